// The stages of a switch to the new collection; switch.ts has their order.
import { waitUntilIndexed } from '../configuration.ts';
import { listPartKeys } from '../kept-snapshot.ts';
import type { Evidence } from '../phases.ts';
import { refuseChangedSetting } from '../ports/collection-setting.ts';
import { Refusal } from '../refusals.ts';
import type { Facts } from '../runs/journal.ts';
import { readManifest } from '../runs/reports.ts';
import { type Reference, wasOpened, windowOf } from '../runs/run.ts';
import { filterTestUser, liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { activate, addActionHint, ensureActionDone, freezeWrites } from './backend-actions.ts';
import { assertGraphConfigured, listGraphKeys, takeBackup } from './backup.ts';
import { removeWarmUp } from './clean-up.ts';
import { compareCounts, haveSameMemories } from './comparison.ts';
import { copyForward, verifyEqual } from './copy.ts';
import { assertUnchangedSinceFreeze, fillInPlace } from './in-place.ts';
import { proveEmbeddings, runSmokeTest } from './new-version.ts';
import { assertNamesFree } from './upload-swap.ts';

export async function freezeOld(context: StepContext): Promise<Facts> {
  return await freezeWrites(context, { collections: [context.run.plan.sourceCollection] });
}

// The backup must be recorded before the setting changes: a rollback needs it.
export async function backUp(context: StepContext): Promise<void> {
  // In place, no data moves: the backup from before the window remains valid.
  if (context.run.plan.inPlace) return;
  await recordEvidence(context, 'backup-manifest', await takeBackup(context));
}

export async function makeNewEqual(context: StepContext): Promise<void> {
  const { inPlace } = context.run.plan;
  const report = inPlace
    ? await context.stages.once('keywords-filled', fillInPlace)
    : await copyRemaining(context);
  await recordEvidence(context, 'verification-report', report);
}

async function copyRemaining(context: StepContext): Promise<Reference> {
  const result = await copyForward(context, { mode: 'repair', users: 'frozen' });
  await waitUntilIndexed(context, context.run.plan.targetCollection);
  return await verifyEqual(context, result);
}

async function recordEvidence(
  { run, updateRun }: StepContext,
  kind: Evidence,
  evidence: Reference,
): Promise<void> {
  await updateRun({ evidence: { ...run.evidence, [kind]: evidence } });
}

/**
 * Asserts that the setting is unchanged and the names are free. The final check finds writes since the last comparison.
 * @throws Refusal
 */
export async function assertReady({ services, run }: StepRequest): Promise<void> {
  assertGraphConfigured(services, run);
  const active = await services.setting.read();
  const { sourceCollection } = run.plan;
  if (active !== sourceCollection) throw refuseChangedSetting(active, sourceCollection);
  await assertNamesFree({ services, run });
}

// Fail here, while it is cheap: after writes open, users would be split across two versions.
export async function prepareSwitch(context: StepContext): Promise<void> {
  await assertReady(context);
  const { services, run, updateRun } = context;
  const now = services.clock().getTime();
  await retainBackup(context, new Date(now + run.plan.retentionDays * DAY_MS));
  await updateRun({ window: { ...windowOf(run), switchedAt: now } });
}

/** Protects the backup and the current reports from deletion until the given day. */
export async function retainBackup(
  { services, run }: Pick<StepRequest, 'services' | 'run'>,
  until: Date,
): Promise<void> {
  const { snapshot, counts, graph } = await readManifest(services, run);
  const reports = Object.values(run.evidence).map(({ artifact }) => artifact);
  const backupKeys = [...listPartKeys(snapshot), ...listGraphKeys(graph), counts.artifact];
  for (const key of [...backupKeys, ...reports]) await services.artifacts.retain(key, until);
}

export async function changeToNew(context: StepContext, to: string): Promise<void> {
  const { services, run } = context;
  if ((await services.setting.read()) !== to) await assertComplete(context);
  await activate(context, { from: run.plan.sourceCollection, to });
}

/** Called before the new version is deployed: later, a user may have deleted the missing memories. @throws Refusal */
async function assertComplete(context: StepContext): Promise<void> {
  const live = liveCollectionOf(context.run);
  const { points, adds, removes } = await compareCounts(context, live);
  const testWrites = await context.services.vectors.count(live, filterTestUser(context.run));
  const actualCount = points + adds - removes - testWrites;
  if (actualCount === points) return;
  const why = `${live} has ${actualCount} points instead of the ${points} that were verified.`;
  throw new Refusal('RefusedVerification', why);
}

export async function deployNew(context: StepContext, to: string): Promise<void> {
  await ensureActionDone(context, 'deploy-new', to);
}

export async function proveNew(context: StepContext, to: string): Promise<void> {
  const collections = liveCollectionsOf(context.run);
  const { backend } = context.services;
  try {
    await removeWarmUp(context, collections);
    await proveEmbeddings(context, { backend, known: to, collection: to });
    await removeWarmUp(context, collections);
    await runSmokeTest(context);
    await removeWarmUp(context, collections);
  } catch (failure) {
    throw addActionHint('deploy-new', to, failure);
  }
}

// Final check: neither collection has changed since they were compared. A late write to the old collection is not lost: the
// refusal returns users to that collection. The time is recorded before traffic is opened, because users may write from then on.
export async function runFinalCheck(context: StepContext, to: string): Promise<void> {
  if (wasOpened(context.run)) return;
  if (context.run.plan.inPlace) await assertUnchangedSinceFreeze(context);
  else await assertUnchanged(context, to);
  const { run, services, updateRun } = context;
  await updateRun({ window: { ...windowOf(run), openedAt: services.clock().getTime() } });
}

// The new collection is read last: users would see damage to it, while a late write to the old one is carried over once writes
// are open.
async function assertUnchanged(context: StepContext, to: string): Promise<void> {
  const { services, run } = context;
  const { sourceCollection } = run.plan;
  const oldExists = await services.vectors.collectionExists(sourceCollection);
  if (oldExists && !(await haveSameMemories(context, sourceCollection, { base: run.base }))) {
    const why = `${sourceCollection} was written to after it was verified.`;
    throw new Refusal('RefusedSourceChanged', why);
  }
  if (!(await haveSameMemories(context, to, { base: run.base }))) {
    throw new Refusal('RefusedVerification', `${to} has changed since it was verified.`);
  }
}

/**
 * Opens traffic. Repeated in every invocation: another program may have changed the setting, or a refused rollback may have frozen
 * writes.
 */
export async function openNew(context: StepContext, to: string): Promise<void> {
  const { services, run, renewLease } = context;
  // If the setting named another collection, the backend would create that collection at its next start.
  await services.setting.change({ from: run.plan.sourceCollection, to });
  // Writes must not open if a rollback has begun meanwhile.
  await renewLease();
  await ensureActionDone(context, 'open-writes', to);
}
