// Without a webhook, a person carries out the actions and confirms each one once, after the request for it.
import { describe, expect, it } from 'vitest';
import { manualHooks } from '../../../../lib/migration/adapters/webhook.ts';
import { EXTERNAL_ACTIONS, type ExternalAction } from '../../../../lib/migration/phases.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { type Migration, RUN, type StepName } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

async function createPerson(migration: Migration) {
  const { services, operator, confirm, runs, advanceClock } = migration;
  const withoutWebhook = { ...services, hooks: manualHooks };
  const readPending = async () => (await runs.read(RUN)).pendingAction;
  /** Carries out the pending action, as the person would. */
  const performPending = async () => {
    const { action, collection } = (await readPending()) ?? {};
    if (action === undefined || collection === undefined) throw new Error('No action is pending');
    const request = { runId: RUN, occasion: '', deadlineAt: undefined };
    await operator.hooks.ask({ ...request, action, collection, testUser: testUserOf(RUN) });
  };
  const take = (name: StepName) => migration.invoke(name, {}, withoutWebhook);
  /** Repeats the step until a person is asked for that action. */
  const takeUntilAsked = async (name: StepName, action: string) => {
    for (let n = 0; n < 12; n += 1) {
      const result = await take(name);
      if (result.dryRun || result.done || (await readPending())?.action === action) return;
      advanceClock(result.waitSeconds * 1_000);
    }
  };
  const doWhenAsked = async (name: StepName, action: ExternalAction) => {
    await takeUntilAsked(name, action);
    await performPending();
    await confirm(action);
  };
  const pending = async () => (await readStatus(services)).pendingAction;
  const refuseAllBut = async (...pending: ExternalAction[]) => {
    for (const action of EXTERNAL_ACTIONS.filter((action) => !pending.includes(action))) {
      await expect(confirm(action), action).rejects.toEqual(failureNamed('RefusedNotNow'));
    }
  };
  const person = {
    readPending,
    performPending,
    take,
    takeUntilAsked,
    doWhenAsked,
    pending,
    refuseAllBut,
  };
  return { ...migration, ...person };
}

const createLivePerson = async () => await createPerson(await createMigrationAt('live'));

describe('without a webhook', () => {
  it.each([
    ['rollback', 'live', ['freeze', 'deploy-old', 'open-writes'], 'copied'],
    ['cutover', 'equal', ['deploy-new', 'open-writes'], 'live'],
  ] as const)(
    'a %s asks for one action at a time',
    async (step, milestone, actions, finalPhase) => {
      const person = await createPerson(await createMigrationAt(milestone));
      const { take, takeUntilAsked, performPending, confirm, refuseAllBut, pending, target } =
        person;
      for (const action of actions) {
        await takeUntilAsked(step, action);
        const isOnNew = step === 'cutover' || action === 'freeze';
        const collection = isOnNew ? target : SOURCE;
        expect(await pending()).toMatchObject({ action, collection, confirmedBy: null });
        await refuseAllBut(action);
        expect(await take(step)).toMatchObject({ done: false });
        await performPending();
        await confirm(action);
      }
      expect(await take(step)).toMatchObject({ phase: finalPhase, done: true });
      expect(await pending()).toBeNull();
      await refuseAllBut();
      expect(person.operator.actions.slice(-actions.length)).toEqual(actions);
    },
  );

  it.each([
    ['deploy-old', ['freeze'], 'RetryableUnavailable', ['open-writes']],
    ['open-writes', ['freeze', 'deploy-old'], 'RetryableUnavailable', []],
  ] as const)(
    'a rollback asks for %s again if it was confirmed but not done',
    async (action, earlierActions, refusal, laterActions) => {
      const person = await createLivePerson();
      const { take, takeUntilAsked, doWhenAsked, performPending, confirm, pending } = person;
      for (const earlier of earlierActions) await doWhenAsked('rollback', earlier);
      await takeUntilAsked('rollback', action);
      await confirm(action);
      await expect(take('rollback')).rejects.toEqual(failureNamed(refusal));
      expect(await take('rollback')).toMatchObject({ phase: 'switching-back', done: false });
      expect(await pending()).toMatchObject({ action, collection: SOURCE, confirmedBy: null });
      await performPending();
      await confirm(action);
      for (const later of laterActions) await doWhenAsked('rollback', later);
      expect(await take('rollback')).toMatchObject({ phase: 'copied', done: true });
    },
  );

  it('an action that the rollback has not asked for yet cannot be confirmed', async () => {
    const { refuseAllBut, invoke, pending } = await createLivePerson();
    await invoke('rollback', {}, { hooks: { ask: async () => 'under-way' } });
    expect(await pending()).toBeNull();
    await refuseAllBut();
  });

  it.each([
    ['answers', async () => 'under-way' as const],
    ['fails', () => Promise.reject(new Error('webhook'))],
  ])(
    'a webhook that %s meanwhile withdraws the request, and the next invocation asks again',
    async (_, ask) => {
      const person = await createLivePerson();
      const { take, confirm, pending, readPending, refuseAllBut } = person;
      await take('rollback');
      const before = await readPending();
      await confirm('freeze');
      await person.invoke('rollback', {}, { hooks: { ask } }).catch(() => undefined);
      expect([await readPending(), await pending()]).toEqual([undefined, null]);
      await refuseAllBut();
      expect(await take('rollback')).toMatchObject({ done: false });
      expect(await readPending()).not.toEqual(before);
      expect(await pending()).toMatchObject({ action: 'freeze', confirmedBy: null });
    },
  );
});
