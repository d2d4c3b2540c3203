// docs/decisions/migration/0005-automatic-rollback.md: what nobody has to acknowledge never keeps a window from closing; what somebody
// has to is never decided by the clock.
import { describe, expect, it } from 'vitest';
import { ofTestUser } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { changedServices, whenAsked } from '../../../support/migration/changed-services.ts';
import {
  changeByUser,
  deleteFirst,
  fingerprintOf,
  writeToNew,
  writeToOld,
} from '../../../support/migration/holdings.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { watchUntilDone } from '../../../support/migration/watching.ts';

const WINDOW_MS = 31 * 60_000;

/** The hook for opening writes has been asked and is not done. */
async function opening(): Promise<Migration> {
  const migration = await migrationAt('switching');
  const { hooks } = migration.services;
  const ask: typeof hooks.ask = async (request) => {
    const answer = await hooks.ask(request);
    return request.action === 'open-writes' ? 'under-way' : answer;
  };
  const slow = { hooks: { ask } };
  expect(await migration.invoke('cutover', {}, slow)).toMatchObject({ phase: 'switching' });
  expect((await migration.runs.read(RUN)).openedAt).toBeDefined();
  return migration;
}

describe('before users were let in', () => {
  async function failed(): Promise<Migration> {
    const migration = await migrationAt('switching', {
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    await expect(migration.finish('cutover')).rejects.toEqual(
      named('RefusedNewVersion', /fastembed|spaCy/),
    );
    const filter = ofTestUser(await migration.runs.read(RUN));
    await migration.services.vectors.deletePoints(migration.target, { filter });
    return migration;
  }

  it('what the new version took before it should comes along, once users are back', async () => {
    const migration = await failed();
    const { setting, vectors } = migration.services;
    // In this order: the id of the new memory is random, and it might be the first.
    await deleteFirst(migration, migration.target);
    await writeToNew(migration, 'Of a user who was let in too early');
    const written = await fingerprintOf(vectors, migration.target);
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    const { phase, evidence } = await migration.runs.read(RUN);
    const facts = evidence['rollback-report']?.facts;
    expect(phase).toBe('copied');
    expect(facts).toMatchObject({ returnedTo: SOURCE, leakedWrites: 2, leakedWritesOverruled: 0 });
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('of two changes of one memory, the one stays that users have, and the other is kept', async () => {
    const migration = await failed();
    const { vectors } = migration.services;
    await changeByUser(migration, migration.target, 'Changed on the new version');
    await changeByUser(migration, SOURCE, 'Changed on the old version');
    const [old, leaked] = await Promise.all(
      [SOURCE, migration.target].map((name) => fingerprintOf(vectors, name)),
    );
    await migration.finish('rollback', { actor: 'machine' });
    const { evidence } = await migration.runs.read(RUN);
    expect(evidence['rollback-report']?.facts).toMatchObject({
      ...{ leakedWrites: 1, leakedWritesOverruled: 1 },
      comparedByHand: migration.target,
    });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    expect(await fingerprintOf(vectors, migration.target)).toEqual(leaked);
  });

  it('a new collection that was emptied takes nothing from the old one', async () => {
    const migration = await failed();
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    const { points } = await vectors.scroll(migration.target, { limit: 999, vector: false });
    await vectors.deletePoints(migration.target, { ids: points.map(({ id }) => id) });
    await migration.finish('rollback', { actor: 'machine' });
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
    const { evidence } = await migration.runs.read(RUN);
    expect(evidence['rollback-report']?.facts).toMatchObject({ leakedWritesWithheld: 60 });
  });

  it('what was written to the old version meanwhile is kept: users go on where they are', async () => {
    const migration = await failed();
    await writeToOld(migration, 'Written though writes were frozen');
    const { setting, vectors } = migration.services;
    const written = await fingerprintOf(vectors, SOURCE);
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
    expect((await migration.runs.read(RUN)).evidence['rollback-report']?.facts).toMatchObject({
      returnedTo: SOURCE,
      leftBehind: 0,
    });
  });

  it('what a smoke test left on the old version is removed, and no reason to restore', async () => {
    const migration = await migrationAt('switching');
    const { hooks, setting, vectors } = migration.services;
    const before = await fingerprintOf(vectors, SOURCE);
    const ask: typeof hooks.ask = async (request) =>
      await hooks.ask(
        request.action === 'deploy-new' ? { ...request, action: 'open-writes' } : request,
      );
    const attempt = migration.finish('cutover', {}, { hooks: { ask } });
    await expect(attempt).rejects.toEqual(named('RefusedNewVersion'));
    expect(await fingerprintOf(vectors, SOURCE)).not.toEqual(before);
    await migration.finish('rollback', { actor: 'machine' });
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(before);
  });

  it('what was deleted from the old collection meanwhile stays deleted', async () => {
    const migration = await failed();
    const { setting, vectors } = migration.services;
    await deleteFirst(migration, SOURCE);
    const left = await fingerprintOf(vectors, SOURCE);
    await migration.finish('rollback', { actor: 'machine' });
    expect(await setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(left);
  });

  it('a new version that declines nothing is no reason to stay frozen', async () => {
    const migration = await failed();
    const addMemory = () => Promise.reject(new Error('Nobody is asked to write'));
    await migration.finish('rollback', { actor: 'machine' }, { backend: { addMemory } });
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
  });

  it('with nothing to return to, an operator may finish what has begun, even late', async () => {
    const migration = await migrationAt('switching');
    const { vectors } = migration.services;
    const slow = { hooks: { ask: async () => 'under-way' as const } };
    expect(await migration.invoke('cutover', {}, slow)).toMatchObject({ phase: 'switching' });
    await vectors.deleteCollection(SOURCE);
    const services = changedServices(migration.services, {
      vectors: { version: async () => '2.0.0' },
    });
    migration.pass(WINDOW_MS);
    await expect(keepWatch(services)).rejects.toEqual(named('RefusedNothingToReturnTo'));
    const byMachine = migration.invoke('cutover', { actor: 'machine' }, services);
    await expect(byMachine).rejects.toEqual(named('RefusedNotNow', 'The window closed at'));
    await migration.finish('cutover', {}, services);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('with something to return to, nobody finishes late', async () => {
    const migration = await failed();
    migration.pass(WINDOW_MS);
    await expect(migration.invoke('cutover')).rejects.toEqual(
      named('RefusedNotNow', 'The window closed at'),
    );
  });
});

describe('once users may have written', () => {
  it('the status does not say that they cannot', async () => {
    const { services } = await opening();
    const { openedAt, frozenSince } = await readStatus(services);
    expect([openedAt, frozenSince]).toEqual([expect.any(String), null]);
  });

  it('nothing lost, the window closes by itself', async () => {
    const migration = await opening();
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
  });

  it('a write is not thrown away by the clock: it comes along', async () => {
    const migration = await opening();
    await writeToNew(migration, 'Among the first');
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    const { points } = await migration.services.vectors.scroll(SOURCE, { limit: 999 });
    expect(points.some(({ payload }) => payload.includes('Among the first'))).toBe(true);
  });

  it('a new collection that was emptied takes nothing from the old one', async () => {
    const migration = await opening();
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    const { points } = await vectors.scroll(migration.target, { limit: 999, vector: false });
    await vectors.deletePoints(migration.target, { ids: points.map(({ id }) => id) });
    await writeToNew(migration, 'Among the first');
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    const { evidence, phase } = await migration.runs.read(RUN);
    expect(phase).toBe('copied');
    expect(await fingerprintOf(vectors, SOURCE)).toMatchObject({ points: old.points + 1 });
    expect(evidence['rollback-report']?.facts).toMatchObject({ comparedByHand: migration.target });
  });

  it('a new collection that is gone keeps nobody from returning', async () => {
    const migration = await opening();
    const { vectors } = migration.services;
    const old = await fingerprintOf(vectors, SOURCE);
    await vectors.deleteCollection(migration.target);
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(old);
  });

  it('a write that came late to the old collection is kept', async () => {
    const migration = await opening();
    await writeToNew(migration, 'Among the first');
    await writeToOld(migration, 'Of a request that outlasted the freeze');
    migration.pass(WINDOW_MS);
    await watchUntilDone(migration);
    const { points } = await migration.services.vectors.scroll(SOURCE, { limit: 999 });
    for (const text of ['Among the first', 'Of a request that outlasted the freeze']) {
      expect(points.some(({ payload }) => payload.includes(text))).toBe(true);
    }
  });

  it('a late write that the cutover carried over, and a user deleted since, does not come back', async () => {
    const migration = await opening();
    await writeToOld(migration, 'Of a request that outlasted the freeze');
    await migration.finish('cutover');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(migration.target, { limit: 999 });
    const late = points.filter(({ payload }) => payload.includes('outlasted the freeze'));
    expect(late).toHaveLength(1);
    await vectors.deletePoints(migration.target, { ids: late.map(({ id }) => id) });
    const written = await fingerprintOf(vectors, migration.target);
    await migration.finish('rollback');
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(written);
  });

  it('a rollback that is refused continues the cutover it came from', async () => {
    const migration = await opening();
    const unfrozen = whenAsked(migration, 'freeze', () => 'done');
    const attempt = migration.finish('rollback', {}, unfrozen);
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
    expect((await migration.runs.read(RUN)).phase).toBe('switching');
    await migration.finish('cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });
});
