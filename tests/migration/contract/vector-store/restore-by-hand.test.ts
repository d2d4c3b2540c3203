// The commands in the guide restore the old collection by hand, from the parts of its snapshot.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { startQdrantSandbox } from '../../../../sandbox/qdrant/server.ts';
import { BARE_ENVIRONMENT } from '../../../shared/support/bare-environment.ts';
import { REAL_QDRANT } from '../../support/real-services.ts';
import { createPoint, OLD_LAYOUT, waitForSnapshot } from '../../support/vector-stores.ts';

const GUIDE = join(import.meta.dirname, '../../../../docs/migration/guide.md');

it('the commands in the guide restore every memory on a store that requires a key', async () => {
  const apiKey = 'secret';
  const sandbox = await startQdrantSandbox({ apiKey });
  onTestFinished(sandbox.close);
  await restoreByHand({ url: sandbox.url, apiKey });
});

it.skipIf(!REAL_QDRANT)(
  'the commands in the guide restore every memory on a real Qdrant (QDRANT_URL)',
  async () => {
    await restoreByHand({ url: REAL_QDRANT ?? '', apiKey: process.env.QDRANT_API_KEY ?? '' });
  },
);

async function restoreByHand({ url, apiKey }: { readonly url: string; readonly apiKey: string }) {
  const store = createQdrant({ url, apiKey });
  const collection = `by-hand-${randomUUID()}`;
  const folder = await mkdtemp(join(tmpdir(), 'by-hand-'));
  onTestFinished(async () => {
    await store.deleteCollection(collection);
    await rm(folder, { recursive: true });
  });
  await store.createCollection(collection, OLD_LAYOUT);
  await store.upsert(
    collection,
    [createPoint(1, '{"user_id":"ada"}'), createPoint(2, '{}')],
    'upsert',
  );
  await store.startSnapshot(collection);
  const { name } = await waitForSnapshot(store, collection);
  const { bytes } = await store.downloadSnapshot(collection, name);
  const file = Buffer.concat(await Array.fromAsync(bytes));
  const half = Math.floor(file.length / 2);
  await writeFile(join(folder, 'kept-part-00000'), file.subarray(0, half));
  await writeFile(join(folder, 'kept-part-00001'), file.subarray(half));
  await store.deleteCollection(collection);

  const section = /\*\*Restore the old collection\.\*\*[\s\S]*?```console\n([\s\S]*?)```/;
  const [, block = ''] = (await readFile(GUIDE, 'utf8')).match(section) ?? [];
  const commands = (block.match(/^(?:cat|curl) .+$/gm) ?? []).map((command) =>
    command.replace('PREFIX', 'kept').replace('/memories/', `/${collection}/`),
  );
  expect(commands).toHaveLength(2);
  const { stdout } = await promisify(execFile)('sh', ['-ec', commands.join('\n')], {
    cwd: folder,
    env: { ...BARE_ENVIRONMENT, QDRANT_URL: url, QDRANT_API_KEY: apiKey },
  });
  expect(stdout).toContain('"ok"');
  expect(await store.count(collection)).toBe(2);
}
