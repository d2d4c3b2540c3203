// Without a webhook a person does what is asked and says so: of one thing at a time, after it was asked for, once.
import { describe, expect, it } from 'vitest';
import { askAPerson } from '../../../../lib/migration/adapters/webhook.ts';
import { EXTERNAL_ACTIONS, type ExternalAction } from '../../../../lib/migration/phases.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { type Migration, RUN, type StepName } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

async function byHand(migration: Migration) {
  const { services, operator, confirm, runs, pass } = migration;
  const spoken = { ...services, hooks: askAPerson };
  const asked = async () => (await runs.read(RUN)).pendingAction;
  /** What a person does who was asked. */
  const doIt = async () => {
    const { action, collection } = (await asked()) ?? {};
    if (action === undefined || collection === undefined) throw new Error('Nothing is asked for');
    const none = { runId: RUN, occasion: '', deadlineAt: undefined };
    await operator.hooks.ask({ ...none, action, collection, testUser: testUserOf(RUN) });
  };
  const take = (name: StepName) => migration.invoke(name, {}, spoken);
  /** Takes the step until somebody is asked for that. */
  const takeUntilAsked = async (name: StepName, action: string) => {
    for (let n = 0; n < 12; n += 1) {
      const result = await take(name);
      if (result.dryRun || result.done || (await asked())?.action === action) return;
      pass(result.waitSeconds * 1_000);
    }
  };
  const doWhenAsked = async (name: StepName, action: ExternalAction) => {
    await takeUntilAsked(name, action);
    await doIt();
    await confirm(action);
  };
  const pending = async () => (await readStatus(services)).pendingAction;
  const refusedBut = async (...pending: ExternalAction[]) => {
    for (const action of EXTERNAL_ACTIONS.filter((action) => !pending.includes(action))) {
      await expect(confirm(action), action).rejects.toEqual(named('RefusedNotNow'));
    }
  };
  return {
    ...migration,
    spoken,
    asked,
    doIt,
    take,
    takeUntilAsked,
    doWhenAsked,
    pending,
    refusedBut,
  };
}

async function live() {
  return await byHand(await migrationAt('live'));
}

describe('without a webhook', () => {
  it('a rollback asks for one thing after the other, and ends on the old version', async () => {
    const person = await live();
    const { take, doIt, confirm, refusedBut, pending, asked, runs, target } = person;
    expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
    const turns = [
      { action: 'freeze', collection: target },
      { action: 'deploy-old', collection: SOURCE },
      { action: 'open-writes', collection: SOURCE },
    ] as const;
    for (const { action, collection } of turns) {
      await person.takeUntilAsked('rollback', action);
      expect(await asked()).toMatchObject({ action, collection });
      expect(await pending()).toMatchObject({ action, collection, confirmedBy: null });
      await refusedBut(action);
      expect(await take('rollback')).toMatchObject({ done: false });
      await doIt();
      await confirm(action);
    }
    expect(await take('rollback')).toMatchObject({ phase: 'copied', done: true });
    expect((await runs.read(RUN)).pendingAction).toBeUndefined();
    await expect(confirm('open-writes')).rejects.toEqual(named('RefusedNotNow'));
    expect(person.operator.heard.slice(-3)).toEqual(['freeze', 'deploy-old', 'open-writes']);
    expect(await pending()).toBeNull();
  });

  it('asks for the old version again where it was confirmed and not deployed', async () => {
    const person = await live();
    const { take, doIt, confirm, pending, takeUntilAsked, doWhenAsked } = person;
    await doWhenAsked('rollback', 'freeze');
    await takeUntilAsked('rollback', 'deploy-old');
    await confirm('deploy-old');
    await expect(take('rollback')).rejects.toEqual(named('RefusedStillNewVersion'));
    expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
    expect(await pending()).toMatchObject({ action: 'deploy-old', confirmedBy: null });
    await doIt();
    await confirm('deploy-old');
    await takeUntilAsked('rollback', 'open-writes');
    expect(await pending()).toMatchObject({ action: 'open-writes', collection: SOURCE });
  });

  it('asks to open writes again where it was confirmed and not done', async () => {
    const person = await live();
    const { take, doIt, confirm, pending, takeUntilAsked, doWhenAsked } = person;
    await doWhenAsked('rollback', 'freeze');
    await doWhenAsked('rollback', 'deploy-old');
    await takeUntilAsked('rollback', 'open-writes');
    await confirm('open-writes');
    await expect(take('rollback')).rejects.toEqual(named('RetryableUnavailable'));
    expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
    expect(await pending()).toMatchObject({ action: 'open-writes', confirmedBy: null });
    await doIt();
    await confirm('open-writes');
    expect(await take('rollback')).toMatchObject({ phase: 'copied', done: true });
  });

  it('nothing is approved of a rollback that has asked for nothing yet', async () => {
    const { refusedBut, invoke, pending } = await live();
    await invoke('rollback', {}, { hooks: { ask: async () => 'under-way' } });
    expect(await pending()).toBeNull();
    await refusedBut();
  });

  it('a cutover asks for the new version, then for writes, each once', async () => {
    const migration = await migrationAt('equal');
    const person = await byHand(migration);
    const { take, doIt, confirm, refusedBut, asked, target } = person;
    expect(await take('cutover')).toMatchObject({ phase: 'switching', done: false });
    expect(await asked()).toMatchObject({ action: 'deploy-new', collection: target });
    await refusedBut('deploy-new');
    await doIt();
    await confirm('deploy-new');
    await person.takeUntilAsked('cutover', 'open-writes');
    await refusedBut('open-writes');
    await doIt();
    await confirm('open-writes');
    expect(await take('cutover')).toMatchObject({ phase: 'live', done: true });
    expect(await asked()).toBeUndefined();
  });

  it('what was approved for a cutover opens nothing in a rollback', async () => {
    const migration = await migrationAt('equal');
    const person = await byHand(migration);
    const { take, doIt, confirm, asked, pending } = person;
    await take('cutover');
    await doIt();
    await confirm('deploy-new');
    await person.takeUntilAsked('cutover', 'open-writes');
    await confirm('open-writes');
    await person.takeUntilAsked('rollback', 'freeze');
    await doIt();
    await confirm('freeze');
    await person.takeUntilAsked('rollback', 'deploy-old');
    expect(await pending()).toMatchObject({ action: 'deploy-old', confirmedBy: null });
    await doIt();
    await confirm('deploy-old');
    await person.takeUntilAsked('rollback', 'open-writes');
    expect(await asked()).toMatchObject({ action: 'open-writes', collection: SOURCE });
    expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
  });

  it.each([
    ['answers', async () => 'under-way' as const],
    ['fails', () => Promise.reject(new Error('webhook'))],
  ])('a webhook that %s meanwhile takes the asking back: another one begins', async (_, ask) => {
    const person = await live();
    const { take, confirm, pending, asked, refusedBut } = person;
    await take('rollback');
    const before = await asked();
    await confirm('freeze');
    await person.invoke('rollback', {}, { hooks: { ask } }).catch(() => undefined);
    expect([await asked(), await pending()]).toEqual([undefined, null]);
    await refusedBut();
    expect(await take('rollback')).toMatchObject({ done: false });
    expect(await asked()).not.toEqual(before);
    expect(await pending()).toMatchObject({ action: 'freeze', confirmedBy: null });
  });
});
