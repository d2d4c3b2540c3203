// The switch as its runbook, in both directions: each line is a stage, in the order in which it happens. A stage that has passed is
// not repeated, whatever ends the invocation. Writes are frozen from `frozen` on, and open again after the last `open`.
import type { Journal } from '../runs/journal.ts';
import { wasOpened } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { deployBack } from './deployment.ts';
import { moveSwitchedEntities, movesEntities } from './entities.ts';
import { waitForAction } from './external-action.ts';
import { carryLateWrites } from './late-writes.ts';
import type { Return } from './return-target.ts';
import { changeToOld, countLeftBehind, makeOldEqual, openOld, restoreOld } from './switch-back.ts';
import {
  backUp,
  changeToNew,
  makeNewEqual,
  openNew,
  prepare,
  proveNew,
  runFinalCheck,
} from './switch-forward.ts';
import { type Facts, FREEZING } from './switch-journal.ts';
import { uploadSwap } from './upload-swap.ts';
import { freezeWrites } from './write-freeze.ts';

/**
 * Moves users from the old collection to the new one. A stage that is refused begins the rollback (runs/step.ts).
 * @returns facts of its end
 */
export async function switchForward(context: StepContext, stages: Journal): Promise<Facts> {
  const { run } = context;
  const from = run.plan.sourceCollection;
  const to = liveCollectionOf(run);
  await stages.poll('frozen', (reached, save) =>
    freezeWrites(context, { collections: [from], reached, save }),
  );
  await stages.part('backed-up', (parts) => backUp(context, parts));
  await stages.poll('equal', (reached, save) => makeNewEqual(context, { reached, save }));
  if (movesEntities(run)) {
    await stages.poll('entities-equal', (reached, save) =>
      moveSwitchedEntities(context, { to, reached, save }),
    );
  }
  await stages.once('prepared', () => prepare(context));
  await stages.part('uploaded', (parts) => uploadSwap(context, parts));
  await stages.once('setting-changed', () => changeToNew(context, to));
  await stages.poll('deployed', () => waitForAction(context, 'deploy-new', to));
  await stages.once('proved', () => proveNew(context, to));
  await stages.once('last-look', () => runFinalCheck(context, to));
  // Once traffic is open, neither a record nor the deadline may stand between it and the end.
  await openNew(context, to);
  return await stages.end('carried', (reached, save) =>
    carryLateWrites(context, { to, reached, save }),
  );
}

/**
 * Moves users back to the old collection. If traffic was never opened, no user has to be kept out, and only early writes are
 * carried over. Until the setting changes, a refusal leaves users on the new version.
 * @param plan undefined if the old collection was never left
 */
export async function switchBack(
  context: StepContext,
  stages: Journal,
  plan: Return | undefined,
): Promise<void> {
  const { run } = context;
  const to = plan?.returnTo ?? run.plan.sourceCollection;
  if (!plan) return await stages.poll('opened', () => openOld(context, { to }));
  const carries = plan.way === 'carry';
  const leavesBehind = wasOpened(run) && !carries && to !== liveCollectionOf(run);
  if (plan.restores) await stages.part('restored', (parts) => restoreOld(context, parts, plan));
  await stages.once(FREEZING, async () => {});
  // docs/migration/decisions/0005-automatic-rollback.md: a freeze needs proof only if users worked on the new version.
  const freezing = { collections: liveCollectionsOf(run), isProved: wasOpened(run) };
  await stages.poll('frozen', (reached, save) =>
    freezeWrites(context, { ...freezing, reached, save }),
  );
  let points: number | undefined;
  if (carries) {
    ({ points } = await stages.poll('equal', (reached, save) =>
      makeOldEqual(context, plan, { reached, save }),
    ));
  }
  if (carries && movesEntities(run)) {
    await stages.poll('entities-equal', (reached, save) =>
      moveSwitchedEntities(context, { to, reached, save }),
    );
  }
  if (leavesBehind) await stages.once('counted', () => countLeftBehind(context, plan));
  await stages.once('setting-changed', () => changeToOld(context, { to, points }));
  await stages.poll('deployed', (reached, save) => deployBack(context, { to, reached, save }));
  await stages.poll('opened', () => openOld(context, { to, points }));
  if (carries || plan.mayHaveLeaked) {
    await stages.poll('carried', (reached, save) =>
      carryLateWrites(context, { to, reached, save }),
    );
  }
}
