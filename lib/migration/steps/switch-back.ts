// The work of each stage of a switch back. The order of the stages is in switch.ts. The old collection may be deleted or emptied
// at any time: before each step that users would notice, it is looked for again.
import { restoreSnapshot } from '../kept-snapshot.ts';
import { isExcessive } from '../mass-change.ts';
import { whyUnhealthy } from '../point-writer.ts';
import { changedSetting } from '../ports/collection-setting.ts';
import { listPending } from '../reconcile-report.ts';
import { Refusal } from '../refusals.ts';
import type { Facts } from '../runs/journal.ts';
import { countVerified, hasSwitched, type Run, wentLive } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { removeTestWrites } from './clean-up.ts';
import { compare, haveSame } from './comparison.ts';
import { activate } from './deployment.ts';
import { assertEqual, describeLateWrites, equalise } from './equalise.ts';
import { waitForAction } from './external-action.ts';
import { type Return, whyUnreadable } from './return-target.ts';
import { assertOpen } from './write-freeze.ts';

// A refusal here is harmless, as users can still write; writes from now on are counted again after the freeze.
export async function restoreOld(context: StepContext, plan: Return): Promise<Facts> {
  const { services, stages } = context;
  const { returnTo: to, restores, way } = plan;
  // The operator may have restored the snapshot already.
  const needsRestore = await stages.once('is-to-be-restored', async () => {
    const isThere = (await services.vectors.listCollections()).includes(to);
    return !(isThere && (await isAsVerified(context, to)));
  });
  if (needsRestore) {
    if (!restores) throw new Refusal('RefusedNotNow', `There is no snapshot for ${to}.`);
    await restoreSnapshot(context, { name: to, kept: restores });
    await assertNotDeleted(context, to);
    if (!(await isAsVerified(context, to))) {
      const why = 'The snapshot does not hold the verified memories.';
      throw new Refusal('RefusedNothingToReturnTo', why);
    }
  }
  return way === 'to-snapshot' ? await countLeftBehind(context, plan) : {};
}

/** True if a restored collection holds the verified memories; the test user's do not count. */
async function isAsVerified(context: StepContext, restored: string): Promise<boolean> {
  const { evidence, plan } = context.run;
  // In place, the snapshot was taken before the window.
  const kind = plan.inPlace ? 'backup-manifest' : 'verification-report';
  const fingerprint = evidence[kind]?.facts.fingerprint;
  return await haveSame(context, restored, { fingerprint });
}

// Writes are frozen. The rollback of a window runs unattended, so this stage must never refuse it.
export async function makeOldEqual(context: StepContext, plan: Return) {
  const { returnTo: to, restores, deletes } = plan;
  await assertNotDeleted(context, to, 0);
  const { run, input, services } = context;
  const names = { active: liveCollectionOf(run), standby: to };
  const info = await services.vectors.collectionInfo(names.active);
  const { report, faults } = await equalise(context, {
    ...names,
    walk: 'equal',
    base: restores || plan.beginsBase ? 'begun' : 'continued',
    users: 'frozen',
    isActiveReadOnly: info !== undefined && whyUnhealthy(info) !== undefined,
    onExcess: wentLive(run) ? 'refuse' : 'insert',
    deletes: input.deletes ?? deletes,
    limitedChanges: 'vectors',
  });
  assertEqual(names, faults);
  const left = listPending(report).length > 0 ? { comparedByHand: names.active } : {};
  const { points } = report.to;
  return { points, ...left, ...describeLateWrites('lateWrites', report.strays) };
}

export async function countLeftBehind(context: StepContext, plan: Return): Promise<Facts> {
  const isRestored = plan.way === 'to-snapshot';
  const counted = await countLostWrites(context, isRestored ? plan.returnTo : undefined);
  const { leftBehind } = counted;
  const limit = context.input.acknowledgedLoss ?? plan.acknowledged;
  if (!isRestored || leftBehind === 'unknown' || leftBehind <= limit) return counted;
  const writes = `${leftBehind} ${leftBehind === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${limit}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why, { data: { loss: leftBehind } });
}

interface Old {
  readonly to: string;
  /** Points of the collection after it was made equal; undefined if it was left unchanged */
  readonly points?: number | undefined;
}

export async function changeToOld(context: StepContext, { to, points }: Old): Promise<void> {
  const { services, run } = context;
  const { setting, log } = services;
  await removeTestWrites(context, [to]);
  await assertNotDeleted(context, to, points);
  const present = await setting.read();
  // Users wait and no client writes, so any present value of the setting is replaced.
  if (!isKnown(run, present) && present !== to) {
    const message = 'Another program changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: to });
  }
  await activate(context, { from: present, to });
}

// The new collection may be the only copy left: a write would create an empty collection instead of the old one.
export async function openOld(context: StepContext, { to, points }: Old): Promise<void> {
  await assertNotDeleted(context, to, points);
  await context.renew();
  await waitForAction(context, 'open-writes', to);
  await assertNotDeleted(context, to, points);
  await assertOpen(context, [to]);
}

/** Stops before the freeze if another program changed the setting: users may write to the collection it names. */
export async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (isKnown(run, present)) return;
  throw changedSetting(present, liveCollectionOf(run));
}

function isKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}

/** The collection may have been deleted since the rollback began: the old version would create an empty one instead. */
async function assertNotDeleted(
  { services: { vectors }, run }: Pick<StepRequest, 'services' | 'run'>,
  returnTo: string,
  expected = countVerified(run),
): Promise<void> {
  // A collection alias can have the same name.
  const exists = (await vectors.listCollections()).includes(returnTo);
  const mayBeEmpty = expected === 0 || !hasSwitched(run);
  if (exists && (mayBeEmpty || (await vectors.count(returnTo)) > 0)) return;
  const why = `${returnTo} was deleted or emptied after the rollback had begun.`;
  throw new Refusal('RefusedNothingToReturnTo', why);
}

/**
 * Counts the writes that a return would lose. If the new collection seems to have been emptied, its missing points are
 * not users' deletions: they count as `lacking`.
 * @param restored compares with this collection; without it, with the last common version
 */
export async function countLostWrites(
  request: StepRequest,
  restored?: string,
): Promise<{ readonly leftBehind: number | 'unknown'; readonly lacking?: number }> {
  const { services, run } = request;
  if ((await whyUnreadable(services, run)) !== undefined) return { leftBehind: 'unknown' };
  const live = liveCollectionOf(run);
  const { adds, changes, removes, points } = await compare(request, {
    active: live,
    standby: restored ?? { base: run.base },
  });
  const isEmptied = isExcessive({ removes, changes: 0, points });
  if (isEmptied) return { leftBehind: adds + changes, lacking: removes };
  return { leftBehind: adds + changes + removes };
}
