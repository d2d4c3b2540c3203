// Before anything is changed, a return is known to end well: everything it rests on was looked at. And whoever has
// begun one has an exit in both directions.
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../lib/migration/proof/backup-manifest.ts';
import { fingerprintOf } from '../../../../lib/migration/scan.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { startNewVersion } from '../../../../local/sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { deleteFirst } from '../../../support/migration/fears.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const RESTORED = `${SOURCE}_restored_${RUN}`;

async function writeToNew({ services, target, clock }: Migration, text: string): Promise<void> {
  const settings = { store: services.vectors, collection: target, dimensions: 8, now: clock };
  await (await startNewVersion(settings)).add('user-1', text);
}

/** What users notice, and what a return would change. */
async function serviceOf({ services, runs, operator }: Migration) {
  return {
    record: await runs.read(RUN),
    setting: await services.setting.read(),
    heard: [...operator.heard],
  };
}

async function manifestOf({ services, runs }: Migration) {
  return await readManifest(services, await runs.read(RUN));
}

/** What is kept under the key has become something else, unnoticed by the store that keeps it. */
function spoilt({ services }: Migration, key: string): Migration['services'] {
  async function* get(asked: string, ...rest: []) {
    for await (const chunk of services.artifacts.get(asked, ...rest)) {
      yield asked === key ? chunk.map((byte) => byte ^ 1) : chunk;
    }
  }
  return { ...services, artifacts: { ...services.artifacts, get } };
}

async function linesOf({ services }: Migration, key: string): Promise<string[]> {
  const bytes = Buffer.concat(await Array.fromAsync(services.artifacts.get(key)));
  return bytes.toString().trim().split('\n');
}

async function forget({ services, pass }: Migration, key: string): Promise<void> {
  pass(31 * 86_400_000);
  await services.artifacts.delete(key);
  pass(-31 * 86_400_000);
}

type Damage = (migration: Migration) => Promise<Migration['services']>;

const DAMAGES: readonly (readonly [string, RegExp, Damage])[] = [
  [
    'a part of the snapshot is missing',
    /There is no artifact run-a\/snapshot/,
    async (migration) => {
      const { parts } = await manifestOf(migration);
      await forget(migration, parts.at(-1)?.artifact ?? '');
      return migration.services;
    },
  ],
  [
    'a part of the snapshot is damaged',
    /is not what was kept/,
    async (migration) => {
      const { parts } = await manifestOf(migration);
      return spoilt(migration, parts[0]?.artifact ?? '');
    },
  ],
  [
    'the manifest is missing',
    /There is no artifact run-a\/backup-manifest/,
    async (migration) => {
      const { evidence } = await migration.runs.read(RUN);
      await forget(migration, evidence['backup-manifest']?.artifact ?? '');
      return migration.services;
    },
  ],
  [
    'the manifest is another',
    /manifest cannot be used: .*not what was recorded/,
    async (migration) => {
      const { evidence } = await migration.runs.read(RUN);
      return spoilt(migration, evidence['backup-manifest']?.artifact ?? '');
    },
  ],
  [
    'the store runs another minor version',
    /is of version [\d.]+ and the store runs 2\.0\.0/,
    async ({ services }) => ({
      ...services,
      vectors: { ...services.vectors, version: async () => '2.0.0' },
    }),
  ],
];

describe('without the old collection, a return is refused and nothing is touched where', () => {
  it.each(DAMAGES)('%s', async (_, why, damage) => {
    const migration = await migrationAt('live');
    await migration.services.vectors.deleteCollection(SOURCE);
    const services = await damage(migration);
    const before = await serviceOf(migration);
    for (const execute of [false, true]) {
      const attempt = migration.invoke('rollback', { execute }, services);
      await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
      await expect(attempt).rejects.toThrow(why);
    }
    expect(await serviceOf(migration)).toEqual(before);
    expect(await migration.services.vectors.listCollections()).not.toContain(RESTORED);
  });

  it('the snapshot does not hold what was verified, whose restored copy is removed', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    await vectors.deleteCollection(SOURCE);
    const before = await serviceOf(migration);
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (name, upload) => {
      await vectors.uploadSnapshot(name, upload);
      await deleteFirst(migration, name);
    };
    const services = { ...migration.services, vectors: { ...vectors, uploadSnapshot } };
    const attempt = migration.invoke('rollback', {}, services);
    await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    expect(await serviceOf(migration)).toEqual(before);
    expect(await vectors.listCollections()).not.toContain(RESTORED);
  });

  it('the restore breaks off, whose debris is removed at once', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    await vectors.deleteCollection(SOURCE);
    const before = await serviceOf(migration);
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (name, upload) => {
      await vectors.uploadSnapshot(name, upload);
      throw new Error('The store ran out of something');
    };
    const services = { ...migration.services, vectors: { ...vectors, uploadSnapshot } };
    await expect(migration.invoke('rollback', {}, services)).rejects.toThrow(/ran out/);
    expect(await serviceOf(migration)).toEqual(before);
    expect(await vectors.listCollections()).not.toContain(RESTORED);
  });
});

describe('an unacknowledged return tells what it would lose, and changes nothing', () => {
  it.each([
    ['the old collection is there', false],
    ['the old collection is gone', true],
  ])('while %s', async (_, isGone) => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    await writeToNew(migration, 'New fact 1');
    await writeToNew(migration, 'New fact 2');
    if (isGone) await vectors.deleteCollection(SOURCE);
    const before = await serviceOf(migration);
    const restored = { atLeast: 2, exactly: expect.stringContaining('without acknowledging') };
    expect(await migration.invoke('rollback', { execute: false })).toMatchObject({
      forecast: { lostWrites: isGone ? restored : 2 },
    });
    expect(await vectors.listCollections()).not.toContain(RESTORED);
    const refusal = await migration.invoke('rollback').catch((error: Error) => error);
    expect(refusal).toEqual(named('RefusedLossNotAcknowledged'));
    const [, lost, key = ''] =
      /loses (\d+) writes?, exported to (\S+);/.exec(String(refusal)) ?? [];
    expect(lost).toBe('2');
    const lines = await linesOf(migration, key);
    expect(lines.map((line) => JSON.parse(line).payload.data).toSorted()).toEqual([
      'New fact 1',
      'New fact 2',
    ]);
    expect(await serviceOf(migration)).toEqual(before);

    const returnsTo = isGone ? RESTORED : SOURCE;
    expect(await migration.invoke('rollback', { execute: false })).toMatchObject({
      forecast: { returnsTo, lostWrites: 2 },
    });
    await migration.finish('rollback', { acknowledgedLoss: 2 });
    expect(await migration.services.setting.read()).toBe(returnsTo);
  });

  it('and what it restored beside is used when it is acknowledged', async () => {
    const migration = await migrationAt('live');
    const { vectors } = migration.services;
    await vectors.deleteCollection(SOURCE);
    await writeToNew(migration, 'New fact');
    const refused = migration.invoke('rollback');
    await expect(refused).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    const uploadSnapshot = () => Promise.reject(new Error('It is there already'));
    const services = { ...migration.services, vectors: { ...vectors, uploadSnapshot } };
    await migration.finish('rollback', { acknowledgedLoss: 1 }, services);
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
  });
});

describe('what a refused return has restored', () => {
  it.each([true, false])('goes with the old collection, when that goes: %s', async (isRemoved) => {
    const migration = await migrationAt('live', {}, { removesWhenOver: isRemoved });
    const { vectors, setting } = migration.services;
    await vectors.deleteCollection(SOURCE);
    await writeToNew(migration, 'New fact');
    const refused = migration.invoke('rollback');
    await expect(refused).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    migration.pass(30 * 86_400_000);
    await migration.follow('retention', 'retention');
    expect((await vectors.listCollections()).includes(RESTORED)).toBe(!isRemoved);
    expect(await vectors.listCollections()).toContain(await setting.read());
  });
});

describe('what is lost', () => {
  it('is kept as long as the other artifacts, and no shorter than from the return on', async () => {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'New fact');
    migration.pass(20 * 86_400_000);
    await migration.finish('rollback', { acknowledgedLoss: 1 });
    const { artifacts } = migration.services;
    const { evidence } = await migration.runs.read(RUN);
    const report = evidence['return-report'];
    expect(report?.facts).toMatchObject({ lost: 1, usersWereLetIn: true });
    const days = migration.clock().getTime() + 29 * 86_400_000;
    for (const key of [String(report?.facts.exportedTo), report?.artifact ?? '']) {
      const until = (await artifacts.head(key))?.retainUntil?.getTime();
      expect(until, key).toBeGreaterThan(days);
      await expect(artifacts.delete(key)).rejects.toThrow(/kept until/);
    }
  });
});

describe('a return that froze the service', () => {
  /** Somebody writes between the look and the freeze: one write more than was acknowledged. */
  async function stuck(): Promise<Migration> {
    const migration = await migrationAt('live');
    await writeToNew(migration, 'Known to be lost');
    const { hooks } = migration.services;
    let asked = 0;
    const ask: typeof hooks.ask = async (request) => {
      asked += 1;
      if (asked === 1) await writeToNew(migration, 'Written at the last moment');
      return await hooks.ask(request);
    };
    const racing = { ...migration.services, hooks: { ask } };
    const attempt = migration.finish('rollback', { acknowledgedLoss: 1 }, racing);
    await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    await expect(attempt).rejects.toThrow(/loses 2 writes/);
    expect((await migration.runs.read(RUN)).phase).toBe('returning');
    return migration;
  }

  it('is finished with the new number', async () => {
    const migration = await stuck();
    await migration.finish('rollback', { acknowledgedLoss: 2 });
    const { phase, evidence } = await migration.runs.read(RUN);
    expect(phase).toBe('returned');
    expect(evidence['return-report']?.facts).toMatchObject({ lost: 2 });
  });

  it('is never finished by the watch with more than was acknowledged', async () => {
    const migration = await stuck();
    migration.pass(60 * 60_000);
    async function watch(): Promise<void> {
      for (;;) {
        const result = await keepWatch(migration.services);
        if (!result || result.dryRun || result.done) return;
        migration.pass(result.waitSeconds * 1_000);
      }
    }
    await expect(watch()).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    expect(await migration.services.setting.read()).toBe(migration.target);
  });

  it('is called off: users go on where they were, and may be taken back later', async () => {
    const migration = await stuck();
    const { liveAt, retainUntil } = await migration.runs.read(RUN);
    expect(await migration.invoke('stay', { execute: false })).toMatchObject({
      forecast: { staysOn: migration.target },
    });
    expect((await migration.runs.read(RUN)).phase).toBe('returning');
    await migration.finish('stay');
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'live', liveAt, retainUntil });
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
    await migration.services.backend.addMemory(`__migration_test_${RUN}`, 'I am let in again.');
    await writeToNew(migration, 'Written after all that');
    await expect(migration.invoke('rollback', { acknowledgedLoss: 2 })).rejects.toThrow(
      /loses 3 writes/,
    );
    await migration.finish('rollback', { acknowledgedLoss: 3 });
    expect((await migration.runs.read(RUN)).evidence['return-report']?.facts).toMatchObject({
      lost: 3,
    });
  });

  it('is called off by the watch once a person has begun to', async () => {
    const migration = await stuck();
    const later = { ...migration.services, hooks: { ask: async () => 'under-way' as const } };
    expect(await migration.invoke('stay', {}, later)).toMatchObject({ phase: 'staying' });
    expect(await keepWatch(migration.services)).toMatchObject({ phase: 'live', done: true });
  });

  it('is not called off by the machine, nor once the setting has changed', async () => {
    const migration = await migrationAt('live');
    const { hooks } = migration.services;
    const ask: typeof hooks.ask = async (request) =>
      request.action === 'deploy-old' ? 'under-way' : await hooks.ask(request);
    const slow = { ...migration.services, hooks: { ask } };
    while ((await migration.services.setting.read()) !== SOURCE) {
      const { waitSeconds = 0 } = (await migration.invoke('rollback', {}, slow)) as {
        waitSeconds?: number;
      };
      migration.pass(waitSeconds * 1_000);
    }
    const byMachine = migration.invoke('stay', { actor: 'machine' });
    await expect(byMachine).rejects.toEqual(named('RefusedNotNow'));
    await expect(migration.invoke('stay')).rejects.toEqual(named('RefusedNotNow'));
    await migration.finish('rollback');
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
  });
});

describe('the freeze of the new version', () => {
  it('is not believed in while a write still goes through, which is taken back', async () => {
    const migration = await migrationAt('live');
    const { hooks } = migration.services;
    const ask: typeof hooks.ask = async (request) =>
      request.action === 'freeze' ? 'done' : await hooks.ask(request);
    const forgetful = { ...migration.services, hooks: { ask } };
    const before = await fingerprintOf(migration.services.vectors, migration.target);
    const attempt = migration.finish('rollback', {}, forgetful);
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
    expect(await fingerprintOf(migration.services.vectors, migration.target)).toEqual(before);
    expect(await migration.services.setting.read()).toBe(migration.target);
    await migration.finish('stay');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('lasts until the longest request has ended, whose write counts as lost', async () => {
    const migration = await migrationAt('live');
    expect(await migration.invoke('rollback')).toMatchObject({ done: false, waitSeconds: 10 });
    await writeToNew(migration, 'A request that was under way');
    await expect(migration.finish('rollback')).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    expect(await migration.services.setting.read()).toBe(migration.target);
  });
});
