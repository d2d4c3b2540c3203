// A service that takes ten writes per second, and a program that sets texts without their vectors, are migrated in place:
// no acknowledged write is lost, and in the end every memory has the keywords of its text, and nothing else.
// `npm run test:real -- busy-service` goes there and back five times.
import { describe, expect, it, onTestFinished } from 'vitest';
import { createQdrant } from '../../lib/migration/adapters/qdrant.ts';
import { toJsonText } from '../../lib/migration/json/json-text.ts';
import { keywordTextOf } from '../../lib/migration/json/memory-payload.ts';
import { countUnfilled } from '../../lib/migration/keyword-fill.ts';
import { KEYWORD_MODEL, vectorNamed } from '../../lib/migration/points.ts';
import type { PointId, ScrolledPoint } from '../../lib/migration/ports/vector-store.ts';
import { pagesOf } from '../../lib/migration/scan.ts';
import {
  type BusyService,
  collectionOf,
  findLosses,
  migrate,
  startBusyService,
  startWriter,
  summaryOf,
  type Writer,
} from '../support/busy-service.ts';
import { hasMem0, REAL_QDRANT } from '../support/real-services.ts';

const MEMORIES = 300;
const WRITES = 30;
const PER_SECOND = 10;
const TURNS = process.env.TEST_MODE === 'ten-times' ? 5 : 1;
const PLAN = ['--accept', 'no-graph', '--drain-seconds', '5', '--free-gb', '1'];

describe.skipIf(!REAL_QDRANT || !hasMem0)('a service with ten writes per second', () => {
  it('is migrated in place, there and back and there', async () => {
    const options = { qdrantUrl: REAL_QDRANT ?? '', memories: MEMORIES, isInPlace: true };
    const service = await startBusyService(options);
    onTestFinished(service.close);
    const writer = startWriter(service, await service.memories(), PER_SECOND);
    onTestFinished(writer.stop);
    const careless = await startCarelessProgram(service, writer);
    onTestFinished(careless.stop);

    await migrate(service, 'run', '--source', service.source, '--in-place', ...PLAN);
    for (let turn = 1; turn <= TURNS; turn += 1) {
      expect(await service.version()).toMatch(/^2\./);
      await writer.acknowledges(WRITES);
      expect(await findLosses(service, writer)).toEqual([]);
      await migrate(service, 'rollback', '--execute');
      expect(await service.version()).toMatch(/^1\./);
      await writer.acknowledges(WRITES);
      expect(await findLosses(service, writer)).toEqual([]);
      await migrate(service, 'run');
    }
    await careless.stop();
    await writer.acknowledges(WRITES);
    await writer.stop();

    expect(await findLosses(service, writer)).toEqual([]);
    expect(writer.written().failures).toEqual([]);
    expect(await collectionOf(service)).toBe(service.source);
    expect(await findWrongKeywords(service)).toEqual([]);
    console.info(`${summaryOf(writer.written())}, 0 lost; ${careless.changes()} texts set alone`);
  });
});

/** Of a user whom the writer does not know. */
const CARELESS = 'careless';

/** While the old version is there and takes writes, it changes the texts of some points, and nothing else of them. */
async function startCarelessProgram({ environment, source, version }: BusyService, writer: Writer) {
  const url = environment.QDRANT_URL ?? '';
  const store = createQdrant({ url });
  const ids = [1, 2, 3, 4, 5];
  const points = ids.map((id) => ({
    id: toJsonText(id) as PointId,
    vector: toJsonText(Array.from({ length: 32 }, (_, n) => n + id)),
    payload: toJsonText({ user_id: CARELESS, data: `Number ${id} plays the cello` }),
  }));
  await store.upsert(source, points, 'upsert');
  let changes = 0;
  let isOver = false;

  async function change(): Promise<void> {
    await writer.acknowledges(1);
    if (!(await version().catch(() => '')).startsWith('1.')) return;
    await fetch(`${url}/collections/${source}/points/payload?wait=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { data: `Oboe ${changes}` }, points: ids }),
    });
    changes += 1;
  }

  const done = (async () => {
    while (!isOver) await change();
  })();
  return {
    changes: () => changes,
    async stop(): Promise<void> {
      isOver = true;
      await done;
    },
  };
}

/** Points without keywords, or with others than the store itself makes of what the new version makes them of. */
async function findWrongKeywords({ environment, source }: BusyService): Promise<string[]> {
  const store = createQdrant({ url: environment.QDRANT_URL ?? '' });
  const made = `${source}_made`;
  await store.createCollection(made, {
    vectors: { size: 1, distance: 'Cosine' },
    sparse_vectors: { bm25: { modifier: 'idf' } },
  });
  const wrong: string[] = [];
  for await (const { points } of pagesOf({ store, collection: source }, { limit: 100 })) {
    const ids = points.map(({ id }) => id);
    const texts = points.map(({ id, payload }) => {
      const text: string = JSON.parse(keywordTextOf(payload) ?? '""');
      const vector = toJsonText({ '': [1], bm25: { text, model: KEYWORD_MODEL } });
      return { id, vector, payload };
    });
    await store.upsert(made, texts, 'upsert');
    const expected = new Map(
      (await store.retrieve(made, ids)).map((one) => [one.id, termsOf(one)]),
    );
    wrong.push(...points.flatMap((one) => (termsOf(one) === expected.get(one.id) ? [] : [one.id])));
  }
  const unfilled = await countUnfilled({ store, collection: source });
  console.info(`${await store.count(source)} memories, ${unfilled} of them written by mem0 2.x`);
  return wrong;
}

function termsOf({ vector }: ScrolledPoint): string {
  const keywords = vector && vectorNamed(vector, 'bm25');
  return keywords ? String(JSON.parse(keywords).indices.toSorted()) : 'none';
}
