// npm run rehearse: on real services, beside existing contents, and when a memory is lost
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileCollectionSetting } from '../../../lib/migration/adapters/file-collection-setting.ts';
import type { HookAction } from '../../../lib/migration/ports/hooks.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { startMemoryBackendSandbox } from '../../../sandbox/memory-backend/server.ts';
import { createOperator } from '../../../sandbox/operator.ts';
import { startWebhook } from '../../../sandbox/webhook.ts';
import { BARE_ENVIRONMENT } from '../../shared/support/bare-environment.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { REHEARSE, rehearse, type SharedStore, startSharedStore } from '../support/rehearsing.ts';

const FEW_MEMORIES = ['--memories', '40'];

describe('a real vector store', () => {
  it('is used by all acts without touching the collections of other programs', async () => {
    const { environment, contents } = await startSharedStore();
    const before = await contents();
    const { code, stdout, stderr } = await rehearse(FEW_MEMORIES, environment);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`vector store:   real, ${environment.QDRANT_URL}`);
    expect(stdout).toContain('memory backend: sandbox');
    expect(stdout).toContain('SIGKILL');
    expect(stdout).toMatch(/\n3 writes left behind as acknowledged; nothing was lost\.\n$/);
    expect(await contents()).toEqual(before);
  });

  it('is cleared if the rehearsal is interrupted', async () => {
    const { environment, vectors, contents } = await startSharedStore();
    const before = await contents();
    const child = spawn(process.execPath, [REHEARSE, ...FEW_MEMORIES, '--acts', '1'], {
      env: { ...BARE_ENVIRONMENT, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = Promise.all([text(child.stderr), once(child, 'close')]);
    await waitUntilMigrating(vectors);
    // The signal comes more than once: from the terminal and from npm.
    const interrupting = setInterval(() => child.kill('SIGINT'), 10);
    ended.finally(() => clearInterval(interrupting));
    expect(await ended).toEqual([expect.stringMatching(/^Interrupted/), [2, null]]);
    expect(await contents()).toEqual(before);
  });

  it('is left unchanged while another rehearsal uses it', async () => {
    const { environment, vectors, contents } = await startSharedStore();
    const abandoned = 'rehearsed_memories_rehearsal-abc_1';
    await vectors.createCollection(abandoned, { vectors: { size: 8, distance: 'Cosine' } });
    const before = await contents();
    const { code, stderr } = await rehearse(FEW_MEMORIES, environment);
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toContain(abandoned);
    expect(await contents()).toEqual(before);
  });

  it('is refused if it does not accept the key', async () => {
    const { environment } = await startSharedStore();
    const { code, stderr } = await rehearse(FEW_MEMORIES, {
      ...environment,
      QDRANT_API_KEY: 'wrong',
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/QDRANT_URL.*401/) });
  });
});

describe('a real memory backend', () => {
  it('uses the collections of the rehearsal, and afterwards its own again', async () => {
    const backend = await startOtherTeamsBackend();
    const before = await backend.store.contents();
    const args = [...FEW_MEMORIES, '--acts', '1,10,12', '--redeploy-backend'];
    const { code, stdout, stderr } = await rehearse(args, backend.environment);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('skipped: a real backend has its model');
    expect(stdout).toContain('1 of 3 acts were skipped.');
    expect(await backend.store.contents()).toEqual(before);
    expect(await backend.setting.read()).toBe('memories');
    expect(backend.requests.slice(-2)).toEqual(['deploy-old memories', 'open-writes memories']);
  });

  it('fails the rehearsal if it loses a memory that the migration did not touch, and the memory is named', async () => {
    const lost: string[] = [];
    const backend = await startOtherTeamsBackend(async (action, collection, { vectors }) => {
      if (action !== 'open-writes' || !collection.includes('_v3_')) return;
      const [point] = (await vectors.scroll(collection, { limit: 1 })).points;
      if (!point) throw new Error('There is no memory to lose');
      lost.push(point.id);
      await vectors.deletePoints(collection, { ids: [point.id] });
    });
    const args = [...FEW_MEMORIES, '--acts', '1', '--redeploy-backend'];
    const { code, stdout } = await rehearse(args, backend.environment);
    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(new RegExp(`act 1, lost: ${lost[0]} of user-[0-9a-f]{16} is missing`));
    expect(stdout).toMatch(/The rehearsal failed\.\n$/);
  });

  it.each([
    ['the operator has not allowed a redeployment', {}, [], /--redeploy-backend/],
    [
      'no webhook or person can deploy it',
      { MIGRATION_WEBHOOK_URL: '' },
      ['--redeploy-backend'],
      /No webhook and no person/,
    ],
    ['its store is not given', { QDRANT_URL: '' }, ['--redeploy-backend'], /QDRANT_URL is not/],
  ])('is not touched if %s', async (_, changes, args, why) => {
    const { environment, requests, setting } = await startOtherTeamsBackend();
    const { code, stderr } = await rehearse([...FEW_MEMORIES, ...args], {
      ...environment,
      ...changes,
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(why) });
    expect({ requests, setting: await setting.read() }).toEqual({
      requests: [],
      setting: 'memories',
    });
  });
});

/** Starts another team's backend with a webhook, on the collection `memories` of a shared store. */
async function startOtherTeamsBackend(
  onHook: (
    action: HookAction,
    collection: string,
    store: SharedStore,
  ) => Promise<void> = async () => {},
) {
  const store = await startSharedStore();
  const file = join(await createTemporaryFolder(), 'collection');
  await writeFile(file, 'memories');
  const backend = await startMemoryBackendSandbox();
  onTestFinished(backend.close);
  backend.grant('key', '__migration_test_rehearsal');
  const settings = { store: store.vectors, dimensions: 8, now: () => new Date() };
  backend.deploy(await startOldVersion({ ...settings, collection: 'memories' }));
  const { hooks } = createOperator({ backend, settings });
  const requests: string[] = [];
  const webhook = await startWebhook({
    async ask(request) {
      const { action, collection } = request;
      requests.push(`${action} ${collection}`);
      const result = await hooks.ask(request);
      await onHook(action, collection, store);
      return result;
    },
  });
  onTestFinished(webhook.close);
  return {
    store,
    requests,
    setting: createFileCollectionSetting(file),
    environment: {
      ...store.environment,
      MEMORY_BACKEND_URL: backend.url,
      MEMORY_BACKEND_KEY: 'key',
      COLLECTION_SETTING: pathToFileURL(file).href,
      MIGRATION_WEBHOOK_URL: webhook.url,
    },
  };
}

async function waitUntilMigrating({ listCollections }: SharedStore['vectors']): Promise<void> {
  for (;;) {
    const names = await listCollections();
    if (names.some((name) => name.startsWith('rehearsed_memories_') && name.includes('_v3_')))
      return;
  }
}
