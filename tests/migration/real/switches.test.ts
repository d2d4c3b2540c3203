// A memory service that users write to all the time is migrated to a new collection, while accidents happen. No acknowledged
// write is lost, doubled or stale.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toJsonText } from '../../../lib/migration/json/json-text.ts';
import { KEYWORD_SLOT } from '../../../lib/migration/points.ts';
import type { Filter, Point } from '../../../lib/migration/ports/vector-store.ts';
import { play, type Scenario } from '../support/busy-service.ts';
import { hasMem0, hasQdrantProgram, REAL_QDRANT } from '../support/real-services.ts';

const WITHOUT_KEYWORDS: Filter = { must_not: [{ has_vector: KEYWORD_SLOT }] };
const UNIT = Array.from({ length: 32 }, (_, n) => (n === 0 ? 1 : 0));

/** Limit of the wait for the lock of a command that was killed on this machine */
const LOCK_MS = 5_000;
/** Factor by which a command may start more slowly than `status`: it reads and checks more, and the machine may be busy. */
const SLOW_START = 3;

/** Points that belong to no user of the service: memories of an agent or a session, and a point without a vector */
const OTHERS: readonly Point[] = [
  { payload: { agent_id: 'planner', data: 'Books trains first' } },
  { payload: { run_id: 'spring', data: 'The plan has two parts' } },
  { payload: { user_id: 'guest', data: 'Plays the oboe' }, vector: {} },
].map(({ payload, vector = UNIT }, n) => ({
  id: toJsonText(n + 1),
  vector: toJsonText(vector),
  payload: toJsonText(payload),
}));

const SCENARIOS: readonly Scenario[] = [
  {
    title: 'a service that runs the new version already',
    old: 2,
    play: async ({
      readCollection,
      migrate,
      rollBack,
      source,
      store,
      target,
      expectUsersWrite,
    }) => {
      await migrate();
      await expectUsersWrite();
      expect(await readCollection()).toBe(target);
      expect(await store.count(target, WITHOUT_KEYWORDS)).toBe(0);
      await rollBack();
      expect(await readCollection()).toBe(source);
    },
  },
  {
    title: 'memories of an agent or a session alone, and a point without a vector',
    play: async ({ migrate, rollBack, source, store, target, expectUsersWrite }) => {
      const read = async (collection: string) => {
        const points = await store.retrieve(collection, ids, { vector: [''] });
        return points.toSorted((a, b) => Number(a.id) - Number(b.id));
      };
      const ids = OTHERS.map(({ id }) => id);
      await store.upsert(source, OTHERS, 'upsert');
      const before = await read(source);
      expect(before).toHaveLength(OTHERS.length);
      await migrate();
      await expectUsersWrite();
      expect(await read(target)).toEqual(before);
      await store.deletePoints(target, { ids: ids.slice(0, 1) });
      await rollBack();
      expect(await read(source)).toEqual(before.slice(1));
    },
  },
  {
    title: 'ten switches forward and back in one run',
    writesPerSecond: 10,
    play: async ({ migrate, rollBack, expectUsersWrite }) => {
      for (let turn = 1; turn <= 5; turn += 1) {
        await migrate();
        await expectUsersWrite();
        await rollBack();
        await expectUsersWrite();
      }
    },
  },
  {
    title: "versions that accept users' writes too early",
    play: async ({
      replaceNext,
      mem0,
      users,
      expectFailedWindow,
      expectNoFault,
      migrate,
      rollBack,
    }) => {
      replaceNext('deploy-new', async (carryOut, { testUser }) => {
        await carryOut();
        await mem0.setWriters('all-users');
        await users.awaitWrites(6);
        await mem0.setWriters({ only: testUser });
      });
      await expectFailedWindow();
      await expectNoFault();
      await migrate();
      replaceNext('deploy-old', async (carryOut) => {
        await mem0.setWriters('all-users');
        await carryOut();
        await users.awaitWrites(6);
        await mem0.setWriters({ frozenUntil: Number.MAX_SAFE_INTEGER });
      });
      await rollBack();
    },
  },
  {
    title: 'the new collection emptied: refused as a mass change, then rolled back as it was',
    breaksStore: true,
    play: async ({
      expectRefused,
      leaveWritesBehind,
      migrate,
      rollBack,
      rollbackArgs,
      ...service
    }) => {
      await migrate();
      await service.expectUsersWrite();
      await service.store.deletePoints(service.target, { filter: {} });
      await expectRefused(
        rollbackArgs(),
        /^RefusedMassChange: This would remove \d+ of \d+ points/m,
      );
      leaveWritesBehind();
      await rollBack('--as-it-was');
      expect(await service.readCollection()).toBe(service.source);
    },
  },
  {
    title: 'the new collection deleted: refused, then rolled back as it was',
    breaksStore: true,
    play: async ({ execute, leaveWritesBehind, migrate, rollBack, rollbackArgs, ...service }) => {
      await migrate();
      await service.expectUsersWrite();
      await service.store.deleteCollection(service.target);
      const { code, stderr } = await execute(rollbackArgs());
      expect(code).toBe(3);
      expect(stderr).toMatch(/^RefusedMassChange: .* was deleted/m);
      leaveWritesBehind();
      await rollBack('--as-it-was');
      expect(await service.readCollection()).toBe(service.source);
    },
  },
  {
    title: 'users who deleted many memories: refused, then accepted with their number',
    play: async ({ expectRefused, migrate, rollBack, rollbackArgs, users, expectUsersWrite }) => {
      await migrate();
      await users.remove(60);
      await expectUsersWrite();
      await expectRefused(
        rollbackArgs(),
        /^RefusedMassChange: This would remove \d+ of \d+ points/m,
      );
      await rollBack('--deletes', '200');
    },
  },
  {
    title: 'the new collection with an optimizer error',
    harmsQdrant: true,
    play: async ({ mem0, migrate, rollBack, server, store, target, expectUsersWrite }) => {
      await migrate();
      await expectUsersWrite();
      // Qdrant 1.18.2 loses deletions while its optimizer fails.
      await mem0.setWriters({ frozenUntil: Number.MAX_SAFE_INTEGER });
      // The optimizer creates its segments in this folder; without the folder it fails.
      const folder = `storage/collections/${target}/0/temp_segments`;
      const segmentsFolder = join(server?.folder ?? '', folder);
      await rm(segmentsFolder, { recursive: true, force: true });
      await writeFile(segmentsFolder, 'no folder');
      await store.updateCollection(target, { optimizers_config: { indexing_threshold: 1 } });
      const status = async () => (await store.readCollectionInfo(target))?.status;
      await expect.poll(status).toBe('red');
      await rollBack();
      expect(await status()).toBe('red');
    },
  },
  {
    title: 'the old collection deleted: its snapshot is restored, and the writes are carried over',
    play: async ({ readCollection, migrate, rollBack, source, store, expectUsersWrite }) => {
      await migrate();
      await expectUsersWrite();
      await store.deleteCollection(source);
      await rollBack();
      expect(await readCollection()).not.toBe(source);
    },
  },
  {
    title: 'two windows refused, each repeated at once',
    play: async ({ replaceNext, expectFailedWindow, mem0, migrate, expectUsersWrite }) => {
      // The webhook reports the freeze as done, without doing it.
      replaceNext('freeze', async () => {});
      await expectFailedWindow();
      replaceNext(
        'deploy-new',
        async (_, { testUser }) => await mem0.setWriters({ only: testUser }),
      );
      await expectFailedWindow();
      expect(await migrate()).not.toMatch(/Backup|Rebuild/);
      await expectUsersWrite();
    },
  },
  {
    title: 'the command killed at each action of the webhook, and repeated at once',
    play: async ({
      actionTimes,
      replaceNext,
      execute,
      migrate,
      rollBack,
      rollbackArgs,
      runArgs,
      expectUsersWrite,
    }) => {
      const delays: number[] = [];
      async function killAt(action: Parameters<typeof replaceNext>[0], args: readonly string[]) {
        const kill = new AbortController();
        replaceNext(action, async (carryOut) => {
          await carryOut();
          kill.abort();
        });
        const [start, requestCount] = [Date.now(), actionTimes.length];
        await execute(args, kill.signal);
        const ended = Date.now();
        await execute(['status']);
        const startMs = Date.now() - ended;
        // Only a command that follows a killed one waits for its lock; the command with `freeze` is the first.
        if (action === 'freeze') return;
        delays.push(Math.max(0, (actionTimes[requestCount] ?? 0) - start - SLOW_START * startMs));
      }

      for (const action of ['freeze', 'deploy-new', 'open-writes'] as const) {
        await killAt(action, runArgs);
      }
      await migrate();
      await expectUsersWrite();
      for (const action of ['freeze', 'deploy-old', 'open-writes'] as const) {
        await killAt(action, rollbackArgs());
      }
      await rollBack();
      expect(Math.max(...delays)).toBeLessThan(LOCK_MS);
    },
  },
  {
    title: 'Qdrant killed in the window and in the rollback',
    harmsQdrant: true,
    breaksStore: true,
    play: async ({ replaceNext, migrate, rollBack, server, expectUsersWrite }) => {
      const restarts: (Promise<void> | undefined)[] = [];
      const killAt = (action: Parameters<typeof replaceNext>[0]) =>
        replaceNext(action, async (carryOut) => {
          await carryOut();
          restarts.push(server?.killAndRestart());
        });
      killAt('freeze');
      killAt('deploy-new');
      await migrate();
      await expectUsersWrite();
      killAt('freeze');
      killAt('deploy-old');
      await rollBack();
      await Promise.all(restarts);
    },
  },
];

describe.skipIf(!REAL_QDRANT || !hasMem0).concurrent('a busy service, to a new collection', () => {
  for (const scenario of SCENARIOS) {
    const { title, harmsQdrant = false } = scenario;
    it.skipIf(harmsQdrant && !hasQdrantProgram)(title, () => play(scenario));
  }
});
