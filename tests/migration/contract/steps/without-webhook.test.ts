// Without a webhook, a person performs the actions and confirms each one once, after the request for it.
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
  /** Performs the pending action, as the person would. */
  const performPending = async () => {
    const { action, collection } = (await readPending()) ?? {};
    if (action === undefined || collection === undefined) throw new Error('No action is pending');
    const request = { runId: RUN, occasion: '', deadlineAt: undefined };
    await operator.hooks.ask({ ...request, action, collection, testUser: testUserOf(RUN) });
  };
  const runStep = (name: StepName) => migration.invoke(name, {}, withoutWebhook);
  /** Repeats the step until a person is asked for that action. */
  const runUntilAsked = async (name: StepName, action: string) => {
    for (let n = 0; n < 12; n += 1) {
      const result = await runStep(name);
      if (result.dryRun || result.done || (await readPending())?.action === action) return;
      advanceClock(result.waitSeconds * 1_000);
    }
  };
  const performWhenAsked = async (name: StepName, action: ExternalAction) => {
    await runUntilAsked(name, action);
    await performPending();
    await confirm(action);
  };
  const showPending = async () => (await readStatus(services)).pendingAction;
  const expectAllRefusedBut = async (...asked: ExternalAction[]) => {
    for (const action of EXTERNAL_ACTIONS.filter((action) => !asked.includes(action))) {
      await expect(confirm(action), action).rejects.toEqual(failureNamed('RefusedNotNow'));
    }
  };
  const person = {
    readPending,
    performPending,
    runStep,
    runUntilAsked,
    performWhenAsked,
    showPending,
    expectAllRefusedBut,
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
      const {
        runStep,
        runUntilAsked,
        performPending,
        confirm,
        expectAllRefusedBut,
        showPending,
        target,
      } = person;
      for (const action of actions) {
        await runUntilAsked(step, action);
        const isOnNew = step === 'cutover' || action === 'freeze';
        const collection = isOnNew ? target : SOURCE;
        expect(await showPending()).toMatchObject({ action, collection, confirmedBy: null });
        await expectAllRefusedBut(action);
        expect(await runStep(step)).toMatchObject({ done: false });
        await performPending();
        await confirm(action);
      }
      expect(await runStep(step)).toMatchObject({ phase: finalPhase, done: true });
      expect(await showPending()).toBeNull();
      await expectAllRefusedBut();
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
      const { runStep, runUntilAsked, performWhenAsked, performPending, confirm, showPending } =
        person;
      for (const earlier of earlierActions) await performWhenAsked('rollback', earlier);
      await runUntilAsked('rollback', action);
      await confirm(action);
      await expect(runStep('rollback')).rejects.toEqual(failureNamed(refusal));
      expect(await runStep('rollback')).toMatchObject({ phase: 'switching-back', done: false });
      expect(await showPending()).toMatchObject({ action, collection: SOURCE, confirmedBy: null });
      await performPending();
      await confirm(action);
      for (const later of laterActions) await performWhenAsked('rollback', later);
      expect(await runStep('rollback')).toMatchObject({ phase: 'copied', done: true });
    },
  );

  it('an action that the rollback has not asked for yet cannot be confirmed', async () => {
    const { expectAllRefusedBut, invoke, showPending } = await createLivePerson();
    await invoke('rollback', {}, { hooks: { ask: async () => 'under-way' } });
    expect(await showPending()).toBeNull();
    await expectAllRefusedBut();
  });

  it.each([
    ['answers', async () => 'under-way' as const],
    ['fails', () => Promise.reject(new Error('webhook'))],
  ])(
    'a request to a person is withdrawn if a webhook %s, and made again by the next invocation',
    async (_, ask) => {
      const person = await createLivePerson();
      const { runStep, confirm, showPending, readPending, expectAllRefusedBut } = person;
      await runStep('rollback');
      const before = await readPending();
      await confirm('freeze');
      await person.invoke('rollback', {}, { hooks: { ask } }).catch(() => undefined);
      expect([await readPending(), await showPending()]).toEqual([undefined, null]);
      await expectAllRefusedBut();
      expect(await runStep('rollback')).toMatchObject({ done: false });
      expect(await readPending()).not.toEqual(before);
      expect(await showPending()).toMatchObject({ action: 'freeze', confirmedBy: null });
    },
  );
});
