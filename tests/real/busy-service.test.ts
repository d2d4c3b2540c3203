// A service that takes three writes per second is migrated from mem0 1.x to 2.x, and no acknowledged write is lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testUserOf } from '../../lib/migration/ports/memory-backend.ts';
import {
  type BusyService,
  lossesIn,
  startBusyService,
  startWriter,
} from '../support/busy-service.ts';
import { hasMem0, REAL_QDRANT } from '../support/real-services.ts';

const COMMAND = join(import.meta.dirname, '../../local/migrate.ts');
const MEMORIES = 300;
/** No request of the writer takes longer. */
const PLAN = ['--accept', 'no-graph', '--drain-seconds', '5'];
const WRITES_AFTERWARDS = 15;

describe.skipIf(!REAL_QDRANT || !hasMem0)('a service with three writes per second', () => {
  it('is migrated without losing a write', async () => {
    const service = await startBusyService({ qdrantUrl: REAL_QDRANT ?? '', memories: MEMORIES });
    onTestFinished(service.close);
    const writer = startWriter(service, await service.memoriesIn(service.source));
    onTestFinished(async () => void (await writer.stop()));

    await migrate(service, 'run', '--source', service.source, ...PLAN);
    expect(await collectionOf(service)).toBe(service.target);
    await writer.acknowledged(WRITES_AFTERWARDS);
    const written = await writer.stop();

    const memories = await service.memoriesIn(service.target);
    expect(lossesIn(memories, written, testUserOf(service.runId))).toEqual([]);
    expect(written.failures).toEqual([]);
    console.info(`${written.acknowledged} writes acknowledged, ${written.refused} refused`);
  });
});

/** As an operator who expects it to work. */
async function migrate(service: BusyService, ...words: readonly string[]): Promise<void> {
  const { environment, runId } = service;
  const options = ['--run', runId, '--free-gb', '1', '--yes'];
  const child = spawn(process.execPath, [COMMAND, ...words, ...options], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

async function collectionOf({ environment }: BusyService): Promise<string> {
  return (await readFile(fileURLToPath(environment.COLLECTION_SETTING ?? ''), 'utf8')).trim();
}
