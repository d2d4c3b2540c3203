// Rollback. Before users were let into the new version nothing can be lost. After, every write comes along, to the old
// collection or to its restored snapshot, unless the operator leaves them behind; and nothing is removed by mistake.
import { describe, expect, it } from 'vitest';
import type { ExternalAction } from '../../../../lib/migration/phases.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { partsOf } from '../../../../lib/migration/snapshots.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { type ServiceChanges, whenAsked } from '../../../support/migration/changed-services.ts';
import {
  deleteFirst,
  fingerprintOf,
  firstPoint,
  LAYOUT,
  manifestOf,
  startOld,
  writeToNew,
  writeToOld,
} from '../../../support/migration/holdings.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt, type Point } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const DAY_MS = 86_400_000;
const RESTORED = `${SOURCE}_restored_${RUN}`;

/** What users notice, and what a rollback would change. */
async function serviceOf({ services, runs, operator }: Migration) {
  // Why a command was refused is all that is noted of it.
  const { refused: _, ...record } = await runs.read(RUN);
  return {
    record,
    setting: await services.setting.read(),
    heard: [...operator.heard],
  };
}

const phaseOf = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

const reportOf = async ({ runs }: Migration) =>
  (await runs.read(RUN)).evidence['rollback-report']?.facts;

const collectionsOf = ({ services }: Migration) => services.vectors.listCollections();

/** Before the first hook of this action is asked, that happens. */
function justBefore(migration: Migration, action: ExternalAction, happens: () => Promise<void>) {
  let isDue = true;
  return whenAsked(migration, action, async () => {
    if (!isDue) return;
    isDue = false;
    await happens();
  });
}

/** A webhook that does what it is asked once for each idempotency key; what it is deaf to, it only says to have done. */
function doingOnce(
  { services }: Migration,
  deaf: ReadonlySet<string> = new Set(),
  { hooks }: Pick<Migration['services'], 'hooks'> = services,
) {
  const keys = new Set<string>();
  const ask: typeof hooks.ask = async (request) => {
    const { occasion, action } = request;
    const key = `${occasion}:${action}`;
    if (keys.has(key)) return 'done';
    keys.add(key);
    return deaf.has(action) ? 'done' : await hooks.ask(request);
  };
  return { hooks: { ask } };
}

async function refuseAliases(): Promise<never> {
  throw new Refusal('RefusedCredentials', 'GET /aliases: 403.');
}

async function giveNameAway() {
  return [{ alias_name: RESTORED, collection_name: 'of somebody else' }];
}

describe('before the switch', () => {
  const POINTS: readonly Point[] = ['frozen', 'window-backed-up', 'switching'];

  it.each(POINTS)('a run that is %s only opens writes again', async (point) => {
    const migration = await migrationAt(point);
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await migration.finish('rollback', { actor: 'machine' });
    expect(await phaseOf(migration)).toBe('copied');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
    expect(migration.operator.heard).not.toContain('deploy-old');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    expect(await collectionsOf(migration)).toContain(migration.target);
    expect(await readStatus(migration.services)).toMatchObject({ next: 'copy', served: [] });
  });
});

describe('an old collection that somebody deletes after the rollback has begun', () => {
  const uploadAs = 'memories_of_2026';

  async function uploading(): Promise<Migration> {
    const migration = await migrationAt('switching', {}, { uploadAs });
    const uploadSnapshot = () => Promise.reject(new Error('died'));
    const attempt = migration.finish('cutover', {}, { vectors: { uploadSnapshot } });
    await expect(attempt).rejects.toThrow('died');
    return migration;
  }

  async function deploying(): Promise<Migration> {
    const migration = await migrationAt('switching');
    const hooks = { ask: async () => 'under-way' as const };
    await migration.invoke('cutover', {}, { hooks });
    expect(await migration.services.setting.read()).toBe(migration.target);
    return migration;
  }

  it.each([
    ['uploading', 'freeze', uploading],
    ['uploading', 'deploy-old', uploading],
    ['uploading', 'open-writes', uploading],
    ['deploying the new version', 'freeze', deploying],
    ['deploying the new version', 'deploy-old', deploying],
    ['deploying the new version', 'open-writes', deploying],
    ['about to switch', 'open-writes', () => migrationAt('switching')],
  ] as const)('leaves the new one in place: %s, before %s', async (_, action, arrive) => {
    const migration = await arrive();
    const { vectors } = migration.services;
    const own = (await collectionsOf(migration)).filter((name) => name !== SOURCE);
    expect(own).toContain(migration.target);
    const services = justBefore(
      migration,
      action,
      async () => void (await vectors.deleteCollection(SOURCE)),
    );
    // Once more, as the watch would.
    for (let n = 0; n < 2; n += 1) {
      const attempt = migration.finish('rollback', { actor: 'machine' }, services);
      await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
      expect(await collectionsOf(migration)).toEqual(expect.arrayContaining(own));
      expect(await phaseOf(migration)).toBe('rolling-back');
    }
  });
});

describe('with the old collection', () => {
  it('every write comes along: created, changed and deleted, in text, vector and user', async () => {
    const migration = await migrationAt('live');
    const { vectors, setting } = migration.services;
    // The new memories last: their ids are random, and one of them might be the first.
    await deleteFirst(migration, migration.target);
    const changed = await firstPoint(migration, migration.target);
    const vector = changed.vector ?? ('[]' as never);
    const payload = '{"user_id":"user-2","data":"Changed","n":10.0}' as typeof changed.payload;
    await vectors.upsert(migration.target, [{ id: changed.id, vector, payload }], 'upsert');
    await writeToNew(migration, 'New fact 1', 'New fact 2');
    const written = await fingerprintOf(vectors, migration.target);
    expect(await migration.invoke('rollback', { execute: false })).toMatchObject({
      forecast: { returnsTo: SOURCE, adds: 2, changes: 1, removes: 1, of: 60, leavesBehind: 0 },
    });
    await migration.finish('rollback');
    expect(await phaseOf(migration)).toBe('copied');
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
    expect(await reportOf(migration)).toMatchObject({ returnedTo: SOURCE, leftBehind: 0 });
    const info = await vectors.collectionInfo(SOURCE);
    expect(info?.config.params.sparse_vectors ?? null).toBeNull();
  });

  it('the old version finds what the new one has written', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    await writeToNew(migration, 'She plays the cello in Amsterdam');
    await migration.finish('rollback');
    const old = await startOld(migration);
    expect(await old.count('user-1')).toBe(
      await vectors.count(SOURCE, { must: [{ key: 'user_id', match: { value: 'user-1' } }] }),
    );
    expect(await old.search('user-1', 'She plays the cello in Amsterdam')).not.toEqual([]);
  });

  it('what was written until the freeze comes along, too', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const services = justBefore(migration, 'freeze', () =>
      writeToNew(migration, 'At the last moment'),
    );
    await migration.finish('rollback', {}, services);
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    expect(points.some(({ payload }) => payload.includes('At the last moment'))).toBe(true);
  });

  it('a request that was under way when writes were frozen comes along', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const frozenSince = async () => (await readStatus(migration.services)).frozenSince;
    expect(await frozenSince()).toBeNull();
    expect(await migration.invoke('rollback')).toMatchObject({ done: false, waitSeconds: 10 });
    expect(await frozenSince()).toBe(migration.clock().toISOString());
    await writeToNew(migration, 'A request that was under way');
    await migration.finish('rollback');
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    expect(points.some(({ payload }) => payload.includes('A request that was under way'))).toBe(
      true,
    );
  });

  it.each([
    ['created', (one: Migration) => writeToNew(one, 'After the walk')],
    ['deleted', (one: Migration) => deleteFirst(one, one.target)],
  ])('a memory %s after both were compared comes along', async (_, write) => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    let written: unknown;
    const services = justBefore(migration, 'deploy-old', async () => {
      await write(migration);
      written = await fingerprintOf(vectors, migration.target);
    });
    await migration.finish('rollback', {}, services);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
  });

  it('a write to the new collection right before writes are opened comes along', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const services = justBefore(migration, 'open-writes', () => writeToNew(migration, 'Late'));
    await migration.finish('rollback', {}, services);
    expect(await phaseOf(migration)).toBe('copied');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(
      await fingerprintOf(vectors, migration.target),
    );
    expect(await reportOf(migration)).toMatchObject({ leakedWrites: 1, leakedWritesOverruled: 0 });
    expect(await reportOf(migration)).not.toHaveProperty('comparedByHand');
  });

  it('once it was deleted and restored, what was written since comes along again', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await writeToNew(migration, 'New fact');
    const written = await fingerprintOf(vectors, migration.target);
    const deleting = justBefore(
      migration,
      'open-writes',
      async () => void (await vectors.deleteCollection(SOURCE)),
    );
    const services = doingOnce(migration, new Set(), deleting);
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    await vectors.createCollection(SOURCE, LAYOUT);
    const restored = points.map(({ id, vector, payload }) => ({
      ...{ id, payload },
      vector: vector as NonNullable<typeof vector>,
    }));
    await vectors.upsert(SOURCE, restored, 'upsert');
    await migration.finish('rollback', {}, services);
    expect(await phaseOf(migration)).toBe('copied');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
  });

  it('what another program has written there since stays, and is reported', async () => {
    const migration = await migrationAt('live', {}, { uploadAs: 'memories_of_2026' });
    const { vectors } = migration.services;
    // In this order, so that it is not the new memory that is deleted: its id is random.
    await deleteFirst(migration, SOURCE);
    await writeToOld(migration, 'Of a program that still uses the old one');
    const written = await fingerprintOf(vectors, SOURCE);
    await migration.finish('rollback');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
    expect(await reportOf(migration)).toMatchObject({
      lateWrites: 2,
      lateWritesOverruled: 0,
    });
    expect(await reportOf(migration)).not.toHaveProperty('comparedByHand');
  });

  it('what it writes there after that was carried over is carried over, too', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    let writes = 0;
    // The comparison is what reads the old collection with its vectors.
    const scroll: typeof vectors.scroll = async (name, request) => {
      if (name === SOURCE && request.vector === undefined && request.limit > 1 && writes === 0) {
        writes += 1;
        await writeToOld(migration, 'Between carrying over and comparing');
      }
      return await vectors.scroll(name, request);
    };
    await writeToNew(migration, 'New fact');
    await migration.finish('rollback', {}, { vectors: { scroll } });
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    for (const text of ['Between carrying over and comparing', 'New fact']) {
      expect(points.some(({ payload }) => payload.includes(text))).toBe(true);
    }
    expect(writes).toBe(1);
  });

  it('what a probe or a smoke test has left there is removed', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await (await startOld(migration)).add(`__migration_test_${RUN}`, 'A probe');
    await migration.finish('rollback');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
  });

  it('the collection that users leave stays, and the old one does', async () => {
    const uploadAs = 'memories_of_2026';
    const migration = await migrationAt('live', {}, { uploadAs });
    await migration.finish('rollback');
    const left = [SOURCE, uploadAs, `${uploadAs}_entities`];
    expect((await collectionsOf(migration)).toSorted()).toEqual(left.toSorted());
    const { served, takesNoWindow } = await readStatus(migration.services);
    expect(served.map(({ collection }) => collection)).toEqual(left.slice(1));
    expect(takesNoWindow).toBe(`users worked on ${uploadAs}`);
  });

  it('what the old version takes before writes are opened is not removed by the last look', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const services = justBefore(migration, 'deploy-old', async () => {
      await writeToNew(migration, 'Late, to the new version');
      await writeToOld(migration, 'Early, to the old version');
    });
    await migration.finish('rollback', {}, services);
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    for (const text of ['Late, to the new version', 'Early, to the old version']) {
      expect(points.some(({ payload }) => payload.includes(text))).toBe(true);
    }
    expect(await reportOf(migration)).not.toHaveProperty('comparedByHand');
  });

  it('is not decided by the machine once the run is live', async () => {
    const migration = await migrationAt('live');
    const attempt = migration.invoke('rollback', { actor: 'machine' });
    await expect(attempt).rejects.toEqual(named('RefusedNotNow'));
  });

  it('opens writes on no old version that is not up', async () => {
    const migration = await migrationAt('live');
    const { hooks } = justBefore(migration, 'open-writes', async () => {
      throw new Error('Too early');
    });
    const ask: typeof hooks.ask = async (request) => {
      const answer = await hooks.ask(request);
      if (request.action === 'deploy-old') migration.backend.deploy(undefined);
      return answer;
    };
    const attempt = migration.finish('rollback', {}, { hooks: { ask } });
    await expect(attempt).rejects.toMatchObject({ name: 'RetryableUnavailable' });
    expect(await phaseOf(migration)).toBe('rolling-back');
    await migration.finish('rollback');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('says so when there is no old version to deploy, and ends when there is one', async () => {
    const migration = await migrationAt('live');
    const services = justBefore(migration, 'deploy-old', async () => {
      throw new Refusal('RefusedByService', 'The webhook answered 404 to deploy-old.');
    });
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(named('RefusedByService'));
    expect(await phaseOf(migration)).toBe('rolling-back');
    await migration.finish('rollback', {}, services);
    expect(await phaseOf(migration)).toBe('copied');
  });
});

describe('a rollback that is refused before the switch opens writes on the new version again', () => {
  const expectLive = async (migration: Migration) => {
    expect(await phaseOf(migration)).toBe('live');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
    expect(await migration.services.setting.read()).toBe(migration.target);
    await migration.services.backend.addMemory(`__migration_test_${RUN}`, 'I am let in again.');
    await migration.finish('rollback');
    expect(await phaseOf(migration)).toBe('copied');
  };

  it('when writes are not frozen', async () => {
    const migration = await migrationAt('live');
    const unfrozen = whenAsked(migration, 'freeze', () => 'done');
    const attempt = migration.finish('rollback', {}, unfrozen);
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
    await expectLive(migration);
  });

  it('when the old collection cannot be made equal', async () => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'New fact');
    const upsert = async () => {};
    const attempt = migration.finish('rollback', {}, { vectors: { upsert } });
    await expect(attempt).rejects.toEqual(named('RefusedVerification'));
    await expectLive(migration);
  });
});

describe('after deploy-old', () => {
  /** The webhook answers that the old version is deployed, and deploys nothing. */
  const withoutDeploying = (migration: Migration) =>
    whenAsked(migration, 'deploy-old', () => 'done');

  const noAnswer = () =>
    Promise.reject(new RetryableFailure('RetryableUnavailable', 'The backend does not answer.'));

  it.each<Point>(['switching', 'live'])(
    'a new version that still answers keeps writes frozen: %s',
    async (point) => {
      const migration = await migrationAt(point);
      const { backend, setting } = migration.services;
      if (point === 'switching') {
        const addMemory = () => Promise.reject(new Error('died'));
        const attempt = migration.finish('cutover', {}, { backend: { addMemory } });
        await expect(attempt).rejects.toThrow('died');
      }
      const services = withoutDeploying(migration);
      for (let n = 0; n < 2; n += 1) {
        const attempt = migration.finish('rollback', {}, services);
        await expect(attempt).rejects.toEqual(named('RefusedStillNewVersion', SOURCE));
        expect(await phaseOf(migration)).toBe('rolling-back');
        expect(await setting.read()).toBe(SOURCE);
        expect(migration.operator.heard.at(-1)).not.toBe('open-writes');
        const write = backend.addMemory(`__migration_test_${RUN}`, 'Let me in.');
        await expect(write).rejects.toMatchObject({ answer: 503 });
      }
      await migration.finish('rollback');
      expect(await phaseOf(migration)).toBe('copied');
      expect(await reportOf(migration)).not.toHaveProperty('oldVersion');
    },
  );

  it('a webhook that does each request once deploys it, asked a second time', async () => {
    const migration = await migrationAt('live');
    const deaf = new Set(['deploy-old']);
    const services = doingOnce(migration, deaf);
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(named('RefusedStillNewVersion'));
    deaf.clear();
    await migration.finish('rollback', {}, services);
    expect(await phaseOf(migration)).toBe('copied');
    expect(migration.operator.heard.slice(-3)).toEqual(['freeze', 'deploy-old', 'open-writes']);
  });

  it('a backend that does not say which version it is does not prevent the rollback', async () => {
    const migration = await migrationAt('live');
    const isGraphDeprecated = () =>
      Promise.reject(new Refusal('RefusedByService', '/graph/relationships answered 404.'));
    await migration.finish('rollback', {}, { backend: { isGraphDeprecated } });
    expect(await phaseOf(migration)).toBe('copied');
    expect(await reportOf(migration)).toMatchObject({ oldVersion: 'unproved' });
  });

  it.each(['health', 'isGraphDeprecated'] as const)(
    'a backend that does not answer to %s is waited for, and not for ever',
    async (call) => {
      const migration = await migrationAt('live');
      const services = { backend: { [call]: noAnswer } };
      for (let minute = 0; minute < 5; minute += 1) {
        const attempt = migration.finish('rollback', {}, services);
        await expect(attempt).rejects.toEqual(
          named('RetryableUnavailable', `check that "deploy-old" on ${SOURCE} is done`),
        );
        expect(await phaseOf(migration)).toBe('rolling-back');
        migration.pass(60_000);
      }
      await migration.finish('rollback', {}, services);
      expect(await phaseOf(migration)).toBe('copied');
      expect(await reportOf(migration)).toMatchObject({ oldVersion: 'unproved' });
    },
  );
});

describe('a new collection that is damaged', () => {
  const emptied = async (migration: Migration) => {
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(migration.target, { limit: 999, vector: false });
    await vectors.deletePoints(migration.target, { ids: points.map(({ id }) => id) });
  };

  const gone = async ({ services, target }: Migration) =>
    void (await services.vectors.deleteCollection(target));

  async function poorer({ services, target }: Migration): Promise<void> {
    const { points } = await services.vectors.scroll(target, { limit: 21, vector: false });
    await services.vectors.deletePoints(target, { ids: points.map(({ id }) => id) });
  }

  async function overwritten({ services: { vectors }, target }: Migration): Promise<void> {
    const { points } = await vectors.scroll(target, { limit: 21 });
    const payload = '{"user_id":"user-1","data":"Nonsense"}' as (typeof points)[0]['payload'];
    const changed = points.map(({ id, vector = '[]' as never }) => ({ id, vector, payload }));
    await vectors.upsert(target, changed, 'upsert');
  }

  const REFUSED: readonly [string, (migration: Migration) => Promise<void>, RegExp][] = [
    ['is empty', emptied, /remove 60 of 60 points of memories and change 0; .* at most 20/],
    ['has lost more than 20', poorer, /remove 21 of 60 points of memories and change 0/],
    ['was overwritten', overwritten, /remove 0 of 60 points of memories and change 21/],
    ['is gone', gone, /memories_v3_run-a is gone/],
  ];

  it.each(REFUSED)('makes the old one no poorer: it %s', async (_, damage, why) => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await damage(migration);
    const standing = await serviceOf(migration);
    for (const execute of [false, true]) {
      const attempt = migration.invoke('rollback', { execute });
      await expect(attempt).rejects.toEqual(named('RefusedMassChange', why));
    }
    expect(await serviceOf(migration)).toEqual(standing);
    const { refused } = await readStatus(migration.services);
    expect(refused).toMatchObject({ name: 'RefusedMassChange', why: expect.stringMatching(why) });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    await migration.finish('rollback', { asItWas: true });
    expect(await phaseOf(migration)).toBe('copied');
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
  });

  it.each([
    ['is empty', emptied, { leavesBehind: 0, lacking: 60 }, { leftBehind: 0, lacking: 60 }],
    ['is gone', gone, { leavesBehind: /^unknown/ }, { leftBehind: 'unknown' }],
  ])('leaves to the snapshot what its dry run says: it %s', async (_, damage, said, told) => {
    const migration = await migrationAt('live');
    await damage(migration);
    const dryRun = await migration.invoke('rollback', { toSnapshot: true, execute: false });
    const leavesBehind =
      said.leavesBehind instanceof RegExp
        ? expect.stringMatching(said.leavesBehind)
        : said.leavesBehind;
    expect(dryRun).toMatchObject({ forecast: { ...said, leavesBehind } });
    await migration.finish('rollback', { toSnapshot: true });
    expect(await migration.services.setting.read()).toBe(RESTORED);
    expect(await reportOf(migration)).toMatchObject(told);
  });

  it('makes it no poorer where it is emptied after writes were frozen, and opens them again', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    const services = justBefore(migration, 'freeze', () => emptied(migration));
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(named('RefusedMassChange', /remove 60 of 60/));
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    expect(await phaseOf(migration)).toBe('live');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('makes it no poorer where it is emptied after it was compared, and opens writes again', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await deleteFirst(migration, migration.target);
    let walks = 0;
    const count: typeof vectors.count = async (name, filter) => {
      const points = await vectors.count(name, filter);
      // Of each walk the first call.
      if (name === migration.target && !filter && ++walks === 2) await emptied(migration);
      return points;
    };
    const attempt = migration.finish('rollback', {}, { vectors: { count } });
    await expect(attempt).rejects.toEqual(
      named('RefusedMassChange', /remove (59|60) points or more of memories; .* at most 20/),
    );
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    expect(await phaseOf(migration)).toBe('live');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('does so where users did it, as the operator says, and not one more', async () => {
    const migration = await migrationAt('live');
    await poorer(migration);
    const attempt = migration.invoke('rollback', { deletes: 20 });
    await expect(attempt).rejects.toEqual(named('RefusedMassChange'));
    const { vectors } = migration.services;
    const left = await fingerprintOf(vectors, migration.target);
    await migration.finish('rollback', { deletes: 21 });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(left);
  });

  it.each([500, 400])('refuses once where it cannot be read: %s', async (answer) => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const failure =
      answer === 500
        ? new RetryableFailure('RetryableUnavailable', 'scroll: 500.', { answer })
        : new Refusal('RefusedByService', 'scroll: 400.', { answer });
    const scroll: typeof vectors.scroll = async (name, request) => {
      if (name === migration.target) throw failure;
      return await vectors.scroll(name, request);
    };
    const services = { vectors: { scroll } };
    const attempt = migration.invoke('rollback', {}, services);
    const why = 'memories_v3_run-a cannot be read';
    await expect(attempt).rejects.toEqual(named('RefusedMassChange', why));
    await migration.finish('rollback', { asItWas: true }, services);
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(await reportOf(migration)).toMatchObject({ leftBehind: 'unknown' });
  });

  it('leaves behind what was written since, as the operator decides, and keeps it', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await writeToNew(migration, 'New fact 1', 'New fact 2');
    const written = await fingerprintOf(vectors, migration.target);
    expect(await migration.invoke('rollback', { execute: false, asItWas: true })).toMatchObject({
      forecast: { returnsTo: SOURCE, leavesBehind: 2 },
    });
    await migration.finish('rollback', { asItWas: true });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    expect(await fingerprintOf(vectors, migration.target)).toEqual(written);
    expect(await reportOf(migration)).toMatchObject({ returnedTo: SOURCE, leftBehind: 2 });
    const { takesNoWindow } = await readStatus(migration.services);
    expect(takesNoWindow).toBe(`${migration.target} has writes that were left behind`);
  });

  it('and the old one gone: as it was, in the snapshot', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await gone(migration);
    await vectors.deleteCollection(SOURCE);
    const attempt = migration.invoke('rollback');
    await expect(attempt).rejects.toEqual(named('RefusedMassChange', 'is gone'));
    await migration.finish('rollback', { asItWas: true });
    expect(await migration.services.setting.read()).toBe(RESTORED);
    expect(await fingerprintOf(vectors, RESTORED)).toEqual(old);
  });

  it('hinders nothing where only its optimizer is in trouble', async () => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'New fact');
    const { vectors } = migration.services;
    const written = await fingerprintOf(vectors, migration.target);
    const collectionInfo: typeof vectors.collectionInfo = async (name) => {
      const info = await vectors.collectionInfo(name);
      if (!info || name !== migration.target) return info;
      return { ...info, status: 'red', optimizer_status: { error: 'Service internal error' } };
    };
    await migration.finish('rollback', {}, { vectors: { collectionInfo } });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
  });
});

describe('an old collection that is damaged', () => {
  async function bereft(...texts: string[]): Promise<Migration> {
    const migration = await migrationAt('live');
    await writeToNew(migration, ...texts);
    await migration.services.vectors.deleteCollection(SOURCE);
    return migration;
  }

  it('is gone: its snapshot is restored under a fresh name, and every write since comes along', async () => {
    const migration = await bereft('New fact 1');
    await deleteFirst(migration, migration.target);
    const { vectors, setting } = migration.services;
    const written = await fingerprintOf(vectors, migration.target);
    await migration.finish('rollback');
    expect(await setting.read()).toBe(RESTORED);
    expect(await fingerprintOf(vectors, RESTORED)).toEqual(written);
    expect(await vectors.listSnapshots(RESTORED)).toEqual([]);
    expect(await reportOf(migration)).toMatchObject({ returnedTo: RESTORED, leftBehind: 0 });
  });

  it('is in trouble: its snapshot takes its place, and the damaged one stays', async () => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'New fact');
    const { vectors, setting } = migration.services;
    const written = await fingerprintOf(vectors, migration.target);
    const collectionInfo: typeof vectors.collectionInfo = async (name) => {
      const info = await vectors.collectionInfo(name);
      return info && name === SOURCE ? { ...info, status: 'red' } : info;
    };
    await migration.finish('rollback', {}, { vectors: { collectionInfo } });
    expect(await setting.read()).toBe(RESTORED);
    expect(await fingerprintOf(vectors, RESTORED)).toEqual(written);
    expect(await collectionsOf(migration)).toContain(SOURCE);
  });

  it('was emptied: it is filled again, and nothing is taken from the new one', async () => {
    const migration = await migrationAt('live');
    const { vectors, setting } = migration.services;
    await writeToNew(migration, 'New fact');
    const written = await fingerprintOf(vectors, migration.target);
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    await vectors.deletePoints(SOURCE, { ids: points.map(({ id }) => id) });
    await migration.finish('rollback');
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
    expect(await fingerprintOf(vectors, migration.target)).toEqual(written);
    expect(await reportOf(migration)).toMatchObject({ lateWrites: 60, lateWritesWithheld: 60 });
  });

  /** What is kept under the key has become something else, unnoticed by the store that keeps it. */
  function damaged({ services }: Migration, key: string): ServiceChanges {
    async function* get(asked: string, ...rest: []) {
      for await (const chunk of services.artifacts.get(asked, ...rest)) {
        yield asked === key ? chunk.map((byte) => byte ^ 1) : chunk;
      }
    }
    return { artifacts: { get } };
  }

  async function forget({ services, pass }: Migration, key: string): Promise<ServiceChanges> {
    pass(31 * DAY_MS);
    await services.artifacts.delete(key);
    pass(-31 * DAY_MS);
    return {};
  }

  async function partOf(migration: Migration): Promise<string> {
    return partsOf((await manifestOf(migration)).snapshot).at(-1) ?? '';
  }

  async function manifestKeyOf({ runs }: Migration): Promise<string> {
    return (await runs.read(RUN)).evidence['backup-manifest']?.artifact ?? '';
  }

  it.each<[string, (migration: Migration) => Promise<ServiceChanges>]>([
    ['a part of the snapshot is missing', async (one) => forget(one, await partOf(one))],
    ['a part of the snapshot is damaged', async (one) => damaged(one, await partOf(one))],
    ['the manifest is missing', async (one) => forget(one, await manifestKeyOf(one))],
    ['the manifest is another', async (one) => damaged(one, await manifestKeyOf(one))],
    [
      'the store runs another minor version',
      async () => ({ vectors: { version: async () => '1.20.0' } }),
    ],
  ])('nothing is touched where %s', async (_, damage) => {
    const migration = await bereft();
    const changes = await damage(migration);
    const standing = await serviceOf(migration);
    for (const execute of [false, true]) {
      const attempt = migration.invoke('rollback', { execute }, changes);
      await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    }
    expect(await serviceOf(migration)).toEqual(standing);
    expect(await collectionsOf(migration)).not.toContain(RESTORED);
  });

  it.each([
    ['does not list aliases', 'RefusedCredentials', refuseAliases],
    ['has that name as an alias', 'RefusedNothingToReturnTo', giveNameAway],
  ] as const)('nothing is touched where the store %s: %s', async (_, name, alter) => {
    const migration = await bereft();
    const attempt = migration.invoke('rollback', {}, { vectors: { listAliases: alter } });
    await expect(attempt).rejects.toEqual(named(name));
    expect(await phaseOf(migration)).toBe('live');
  });

  it('users stay where they are when the snapshot does not hold what was verified', async () => {
    const migration = await bereft();
    const { vectors } = migration.services;
    const restoredPoints: typeof vectors.restoredPoints = async (name) => {
      const points = await vectors.restoredPoints(name);
      if (points) await deleteFirst(migration, name);
      return points;
    };
    const { heard } = await serviceOf(migration);
    const attempt = migration.finish('rollback', {}, { vectors: { restoredPoints } });
    await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    expect(await serviceOf(migration)).toMatchObject({ heard, record: { phase: 'live' } });
    expect(await collectionsOf(migration)).not.toContain(RESTORED);
  });
});

describe('to the snapshot', () => {
  const input = { toSnapshot: true };

  it.each([undefined, 0, 2])('3 writes are not left behind for %s acknowledged', async (n) => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'New fact 1', 'New fact 2', 'New fact 3');
    expect(await migration.invoke('rollback', { ...input, execute: false })).toMatchObject({
      forecast: { returnsTo: RESTORED, leavesBehind: 3 },
    });
    const { heard } = await serviceOf(migration);
    const acknowledged = n === undefined ? {} : { acknowledgedLoss: n };
    const attempt = migration.finish('rollback', { ...input, ...acknowledged });
    await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged', /loses 3 writes/));
    expect(await phaseOf(migration)).toBe('live');
    expect((await serviceOf(migration)).heard).toEqual(heard);
    expect(await collectionsOf(migration)).not.toContain(RESTORED);
  });

  it('acknowledged, they stay in the new collection', async () => {
    const migration = await migrationAt('live');
    const { vectors, setting } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await writeToNew(migration, 'New fact 1', 'New fact 2');
    const written = await fingerprintOf(vectors, migration.target);
    await migration.finish('rollback', { ...input, acknowledgedLoss: 2 });
    expect(await setting.read()).toBe(RESTORED);
    expect(await fingerprintOf(vectors, RESTORED)).toEqual(old);
    expect(await fingerprintOf(vectors, migration.target)).toEqual(written);
    expect(await reportOf(migration)).toMatchObject({ returnedTo: RESTORED, leftBehind: 2 });
    const { next, takesNoWindow } = await readStatus(migration.services);
    expect([next, takesNoWindow]).toEqual([null, `users are on ${RESTORED}`]);
  });

  it('one write more than was acknowledged opens the new version again', async () => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'Known to be left behind');
    const acknowledged = { ...input, acknowledgedLoss: 1 };
    const services = justBefore(migration, 'freeze', () =>
      writeToNew(migration, 'At the last moment'),
    );
    const deaf = new Set(['open-writes']);
    const unheard = doingOnce(migration, deaf, services);
    const attempt = migration.finish('rollback', acknowledged, unheard);
    // It looks whether writes are open again.
    await expect(attempt).rejects.toEqual(named('RetryableUnavailable'));
    expect(await phaseOf(migration)).toBe('rolling-back');
    deaf.clear();
    const next = migration.finish('rollback', acknowledged, unheard);
    await expect(next).rejects.toEqual(named('RefusedLossNotAcknowledged', /loses 2 writes/));
    expect(await phaseOf(migration)).toBe('live');
    expect(migration.operator.heard.slice(-2)).toEqual(['freeze', 'open-writes']);
  });
});
