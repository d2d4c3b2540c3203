// A confirmation counts only for the action and the collection that were requested.
import { expect, it } from 'vitest';
import type { StepContext } from '../../../../lib/migration/runs/step.ts';
import { ensureActionDone } from '../../../../lib/migration/steps/backend-actions.ts';
import { unwrapPaused } from '../../support/unwrap-paused.ts';

const NOW = Date.UTC(2026, 2, 1);

/** Creates the context of a run whose pending action a person has confirmed. */
function createConfirmed(pendingAction: { action: string; collection: string }) {
  const notes: unknown[] = [];
  const context = {
    services: {
      clock: () => new Date(NOW),
      hooks: { ask: async () => 'asked-of-a-person' },
      runs: { confirmedBy: async () => 'ada' },
    },
    run: { runId: 'spring', phase: 'switching', history: [], startedAt: NOW, pendingAction },
    lease: { epoch: 7 },
    updateRun: async (changes: unknown) => void notes.push(changes),
  };
  return { context: context as unknown as StepContext, notes };
}

it('an external action is done when the person confirms the requested one', async () => {
  const { context, notes } = createConfirmed({ action: 'open-writes', collection: 'memories_v3' });
  expect(await ensureActionDone(context, 'open-writes', 'memories_v3')).toBeUndefined();
  expect(notes).toEqual([]);
});

it.each([
  ['another action', { action: 'deploy-new', collection: 'memories_v3' }],
  ['another collection', { action: 'open-writes', collection: 'memories' }],
])('an external action is requested again if the person confirmed %s', async (_, pendingAction) => {
  const { context, notes } = createConfirmed(pendingAction);
  const waiting = await ensureActionDone(context, 'open-writes', 'memories_v3').catch(unwrapPaused);
  expect(waiting).toMatchObject({ waitsFor: 'the webhook' });
  const requested = { action: 'open-writes', collection: 'memories_v3', since: NOW, epoch: 7 };
  expect(notes).toEqual([{ pendingAction: requested }]);
});
