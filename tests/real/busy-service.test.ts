// A service that takes three writes per second is migrated from mem0 1.x to 2.x and rolled back, and no acknowledged
// write is lost. `npm run test:real -- busy-service` does it ten times.
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  collectionOf,
  findLosses,
  migrate,
  startBusyService,
  startWriter,
  summaryOf,
} from '../support/busy-service.ts';
import { hasMem0, REAL_QDRANT } from '../support/real-services.ts';

const RUNS = process.env.TEST_MODE === 'ten-times' ? 10 : 1;
const MEMORIES = 300;
/** No request of the writer takes longer than the drain. */
const PLAN = ['--accept', 'no-graph', '--drain-seconds', '5', '--free-gb', '1'];
/** On each version that users are let into. */
const WRITES = 15;

describe.skipIf(!REAL_QDRANT || !hasMem0)('a service with three writes per second', () => {
  it.for(Array.from({ length: RUNS }, (_, n) => n + 1))(
    'is migrated and rolled back without losing a write (%i)',
    async (run) => {
      const service = await startBusyService({ qdrantUrl: REAL_QDRANT ?? '', memories: MEMORIES });
      onTestFinished(service.close);
      const before = await service.memories();
      expect(before.size).toBe(MEMORIES);
      const writer = startWriter(service, before);
      onTestFinished(writer.stop);
      await writer.acknowledges(WRITES);

      await migrate(service, 'run', '--source', service.source, ...PLAN);
      await writer.acknowledges(WRITES);
      expect(await service.version()).toMatch(/^2\./);
      expect(await collectionOf(service)).toBe(service.target);
      expect(await findLosses(service, writer)).toEqual([]);
      const { refused } = writer.written();

      await migrate(service, 'rollback', '--execute');
      await writer.acknowledges(WRITES);
      await writer.stop();
      expect(await service.version()).toMatch(/^1\./);
      expect(await collectionOf(service)).toBe(service.source);
      expect(await findLosses(service, writer)).toEqual([]);

      const written = writer.written();
      expect(written.failures).toEqual([]);
      // The writer did not rest in either window.
      expect(refused).toBeGreaterThan(0);
      expect(written.refused).toBeGreaterThan(refused);
      console.info(`Run ${run} of ${RUNS}: ${summaryOf(written)}, 0 lost`);
    },
  );
});
