// Without a webhook, a person does the actions and confirms them: one action at a time, only after the request, and once.
import { describe, expect, it } from 'vitest';
import { askAPerson } from '../../../../lib/migration/adapters/webhook.ts';
import { EXTERNAL_ACTIONS, type ExternalAction } from '../../../../lib/migration/phases.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { type Migration, RUN, type StepName } from '../../support/migration.ts';
import { migrationAt } from '../../support/prepared.ts';
import { named } from '../../support/refused.ts';

async function byHand(migration: Migration) {
  const { services, operator, confirm, runs, pass } = migration;
  const spoken = { ...services, hooks: askAPerson };
  const asked = async () => (await runs.read(RUN)).pendingAction;
  /** Does the pending action, as the person would. */
  const doIt = async () => {
    const { action, collection } = (await asked()) ?? {};
    if (action === undefined || collection === undefined) throw new Error('Nothing is asked for');
    const none = { runId: RUN, occasion: '', deadlineAt: undefined };
    await operator.hooks.ask({ ...none, action, collection, testUser: testUserOf(RUN) });
  };
  const take = (name: StepName) => migration.invoke(name, {}, spoken);
  /** Repeats the step until a person is asked for that action. */
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
  const person = { asked, doIt, take, takeUntilAsked, doWhenAsked, pending, refusedBut };
  return { ...migration, ...person };
}

const live = async () => await byHand(await migrationAt('live'));

describe('without a webhook', () => {
  it.each([
    ['rollback', 'live', ['freeze', 'deploy-old', 'open-writes'], 'copied'],
    ['cutover', 'equal', ['deploy-new', 'open-writes'], 'live'],
  ] as const)('a %s asks for one action at a time', async (step, point, actions, end) => {
    const person = await byHand(await migrationAt(point));
    const { take, takeUntilAsked, doIt, confirm, refusedBut, pending, target } = person;
    for (const action of actions) {
      await takeUntilAsked(step, action);
      const isOfNew = step === 'cutover' || action === 'freeze';
      const collection = isOfNew ? target : SOURCE;
      expect(await pending()).toMatchObject({ action, collection, confirmedBy: null });
      await refusedBut(action);
      expect(await take(step)).toMatchObject({ done: false });
      await doIt();
      await confirm(action);
    }
    expect(await take(step)).toMatchObject({ phase: end, done: true });
    expect(await pending()).toBeNull();
    await refusedBut();
    expect(person.operator.heard.slice(-actions.length)).toEqual(actions);
  });

  it.each([
    ['deploy-old', ['freeze'], 'RetryableUnavailable', ['open-writes']],
    ['open-writes', ['freeze', 'deploy-old'], 'RetryableUnavailable', []],
  ] as const)(
    'asks for %s again if it was confirmed and not done',
    async (action, before, refusal, after) => {
      const person = await live();
      const { take, takeUntilAsked, doWhenAsked, doIt, confirm, pending } = person;
      for (const other of before) await doWhenAsked('rollback', other);
      await takeUntilAsked('rollback', action);
      await confirm(action);
      await expect(take('rollback')).rejects.toEqual(named(refusal));
      expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
      expect(await pending()).toMatchObject({ action, collection: SOURCE, confirmedBy: null });
      await doIt();
      await confirm(action);
      for (const other of after) await doWhenAsked('rollback', other);
      expect(await take('rollback')).toMatchObject({ phase: 'copied', done: true });
    },
  );

  it('an action that the rollback has not asked for yet cannot be confirmed', async () => {
    const { refusedBut, invoke, pending } = await live();
    await invoke('rollback', {}, { hooks: { ask: async () => 'under-way' } });
    expect(await pending()).toBeNull();
    await refusedBut();
  });

  it.each([
    ['answers', async () => 'under-way' as const],
    ['fails', () => Promise.reject(new Error('webhook'))],
  ])('a webhook that %s meanwhile withdraws the request: another one begins', async (_, ask) => {
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
