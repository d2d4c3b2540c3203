// The actions of a switch: freeze writes, change the setting and the aliases that name the collection, deploy, and open writes.
// This file changes the setting and the aliases. A webhook carries out the other actions, or a person does and confirms each one.
// A confirmation is valid for one pending action. Writes of a test user prove that writes are frozen, or open again.
import * as v from 'valibot';
import { EXTERNAL_ACTIONS, type ExternalAction } from '../phases.ts';
import { refuseChangedSetting } from '../ports/collection-setting.ts';
import type { HookOutcome } from '../ports/hooks.ts';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput, personSchema } from '../runs/input.ts';
import { Paused } from '../runs/journal.ts';
import { phaseSince, type Run, runIdSchema, windowOf } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { removeTestWrites } from './clean-up.ts';

/** Time between the window's deadline and the moment when a freeze expires by itself */
const FREEZE_GRACE_MS = 15 * 60_000;

/** Requests an action. @throws Paused until the action is done */
export async function ensureActionDone(
  context: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<void> {
  const outcome = await requestAction(context, action, collection);
  if (outcome === 'done') return;
  const needsPerson = outcome === 'asked-of-a-person';
  if (needsPerson && (await checkConfirmation(context, action, collection))) return;
  throw new Paused({ waitsFor: 'the webhook', needsPerson });
}

/** Records the action as pending, if it is not pending yet. @returns true if a person has confirmed it */
async function checkConfirmation(
  { services, run, lease, updateRun }: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<boolean> {
  const { pendingAction: pending } = run;
  if (pending?.action === action && pending.collection === collection) {
    return (await services.runs.confirmedBy(run)) !== undefined;
  }
  const since = services.clock().getTime();
  await updateRun({ pendingAction: { action, collection, since, epoch: lease.epoch } });
  return false;
}

// Any response of a webhook, even a refusal, ends the wait for a person.
async function requestAction(
  context: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<HookOutcome> {
  const { run, updateRun } = context;
  let outcome: HookOutcome | undefined;
  try {
    outcome = await callHook(context, action, collection);
    return outcome;
  } finally {
    if (outcome !== 'asked-of-a-person' && run.pendingAction) {
      await updateRun({ pendingAction: undefined });
    }
  }
}

async function callHook(
  { services, run }: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<HookOutcome> {
  const { runId, phase, window } = run;
  // A rollback has no deadline: its freeze ends when writes are opened on either version.
  const deadlineAt = phase === 'switching-back' ? undefined : window?.deadlineAt;
  return await services.hooks.ask({
    action,
    runId,
    occasion: nameOccasion(run),
    collection,
    testUser: testUserOf(runId),
    deadlineAt: deadlineAt === undefined ? undefined : deadlineAt + FREEZE_GRACE_MS,
  });
}

/** Identifies a request. The same action is a new request in another window or rollback, and after `askAgain`. */
function nameOccasion(run: Run): string {
  return `${run.phase}-${run.askedAgainAt ?? phaseSince(run)}`;
}

/**
 * Makes the next request a new one, for example after an action was falsely reported as done: a person must confirm again, and a
 * webhook that carries out each request only once acts again.
 */
export async function askAgain({ services, run, updateRun }: StepContext): Promise<void> {
  const { askedAgainAt: previous = 0 } = run;
  const askedAgainAt = Math.max(services.clock().getTime(), previous + 1);
  await updateRun({ pendingAction: undefined, askedAgainAt });
}

/** Adds a hint to a failure's message: the preceding action may not have been carried out. */
export function addActionHint(
  action: ExternalAction,
  collection: string,
  failure: unknown,
): unknown {
  if (!(failure instanceof RetryableFailure)) return failure;
  const { name, message, code } = failure;
  const why = `${message} If this lasts, check that "${action}" on ${collection} is done.`;
  return new RetryableFailure(name, why, { cause: failure, ...(code && { code }) });
}

/** Since when all test writes have been refused, or have proved nothing */
export const freezeChecksSchema = v.object({
  refusedSince: v.optional(v.number()),
  unprovedSince: v.optional(v.number()),
});

/** Time between two test writes, unless `drainSeconds` is shorter */
const FREEZE_POLL_SECONDS = 10;

function choosePollSeconds({ drainSeconds }: Run['plan']): number {
  return Math.min(FREEZE_POLL_SECONDS, Math.max(1, Math.ceil(drainSeconds)));
}

/** Time for which test writes may prove nothing before the freeze is refused */
const MAX_INCONCLUSIVE_MS = 60_000;

/** Codes of failures that prove that the backend accepts no writes at all */
const FREEZE_PROOFS: readonly unknown[] = [503, 'ECONNREFUSED'];

/** Proof of a freeze, for the report */
export const proofSchema = v.object({
  frozenSince: v.string(),
  refusedWith: v.string(),
  drainedSeconds: v.number(),
});

type FreezeProof = v.InferOutput<typeof proofSchema>;

interface FreezeOptions {
  /** Collections that the backend may write to */
  readonly collections: readonly [string, ...string[]];
  readonly needsProof?: boolean;
}

export async function freezeWrites(
  context: StepContext,
  { collections, needsProof = true }: FreezeOptions,
): Promise<FreezeProof | Record<string, never>> {
  await ensureActionDone(context, 'freeze', collections[0]);
  return needsProof ? await proveFrozen(context, collections) : {};
}

/**
 * Tries one write, and saves the result for the next attempt.
 * @throws Paused until writes have been refused for long enough; Refusal if a write is accepted, or if nothing proves the freeze
 */
async function proveFrozen(
  context: StepContext,
  collections: FreezeOptions['collections'],
): Promise<FreezeProof> {
  const { cursor, saveCursor } = context;
  const checks = v.parse(v.optional(freezeChecksSchema, {}), cursor);
  const { plan } = context.run;
  const now = context.services.clock().getTime();
  const failure = await tryWrite(context, collections, MEMORABLE_TEXT);
  if (!failure) throw refuseUnfrozen('The memory backend still accepts writes.');
  // A refusal of the key says nothing about the freeze.
  const mayConcernFreeze =
    failure instanceof RetryableFailure || isRefusal(failure, 'RefusedByService');
  if (!mayConcernFreeze) throw failure;
  if (!FREEZE_PROOFS.includes(failure.code)) {
    const { unprovedSince = now } = checks;
    await saveCursor({ unprovedSince });
    const waitsFor = `a write to be refused with 503 (${failure.message})`;
    if (now - unprovedSince < MAX_INCONCLUSIVE_MS)
      throw new Paused({ waitsFor, waitSeconds: choosePollSeconds(plan) });
    throw refuseUnfrozen(`Nothing proves that writes are refused. ${failure.message}`);
  }
  const { refusedSince = now } = checks;
  await saveCursor({ refusedSince });
  const drainedSeconds = (now - refusedSince) / 1_000;
  if (drainedSeconds >= context.run.plan.drainSeconds) {
    const frozenSince = new Date(refusedSince).toISOString();
    return { frozenSince, refusedWith: String(failure.code), drainedSeconds };
  }
  const leftSeconds = Math.ceil(context.run.plan.drainSeconds - drainedSeconds);
  const waitSeconds = Math.min(FREEZE_POLL_SECONDS, leftSeconds);
  throw new Paused({ waitsFor: 'running requests to end', waitSeconds, leftSeconds });
}

/**
 * Checks that a freeze has ended. If a test write is still refused, "open-writes" was not carried out. Any other response proves
 * nothing, and does not stop the run.
 * @throws RetryableFailure so that "open-writes" is requested again
 */
export async function assertOpen(
  context: StepContext,
  collections: readonly [string, ...string[]],
): Promise<void> {
  const failure = await tryWrite(context, collections, FORGETTABLE_TEXT);
  if (!FREEZE_PROOFS.includes(failure?.code)) return;
  await askAgain(context);
  const why = `After "open-writes" on ${collections[0]}, the memory backend still refuses writes: ${failure?.code}`;
  throw new RetryableFailure('RetryableUnavailable', why);
}

const MEMORABLE_TEXT = 'My name is a test of the write freeze.';
/** Text that yields no memory, not even in a graph */
const FORGETTABLE_TEXT = 'Hi.';

/** Writes as the test user, then removes the writes. @returns why it failed; undefined if anything was written */
async function tryWrite(
  context: StepContext,
  collections: readonly string[],
  text: string,
): Promise<(Error & { readonly code?: unknown }) | undefined> {
  const { services, run, renewLease } = context;
  // Test writes from an earlier attempt would count as new ones.
  await removeTestWrites(context, collections);
  await renewLease();
  const failure = await services.backend.addMemory(testUserOf(run.runId), text).then(
    () => undefined,
    (error: Error) => error,
  );
  const writtenCount = await removeTestWrites(context, collections);
  return writtenCount === 0 ? failure : undefined;
}

function refuseUnfrozen(why: string): Refusal {
  return new Refusal('RefusedNotFrozen', why);
}

type ActivationContext = Pick<StepContext, 'services' | 'run' | 'updateRun' | 'renewLease'>;

interface Activation {
  readonly from: string;
  readonly to: string;
  /** Called if the store refuses to move the aliases. By default that refusal is thrown. */
  readonly onAliasesRefused?: (refusal: Refusal) => void;
}

/** Points the setting and the aliases to `to`. Can be repeated. @throws Refusal if the setting names a third collection */
export async function activate(
  context: ActivationContext,
  { from, to, onAliasesRefused }: Activation,
): Promise<void> {
  const { services, renewLease } = context;
  const aliases = await recordAliases(context);
  await renewLease();
  if (from !== to) await services.setting.change({ from, to });
  await moveAliases(context, aliases, to).catch((error: unknown) => {
    if (!onAliasesRefused || !isRefusal(error, 'RefusedByService')) throw error;
    onAliasesRefused(error);
  });
}

/** Records the aliases of the old collection before any of them is moved: a rollback moves back only the recorded ones. */
async function recordAliases({
  services,
  run,
  updateRun,
}: ActivationContext): Promise<readonly string[]> {
  if (!run.plan.movesAliases || run.window?.aliases) return run.window?.aliases ?? [];
  const listedAliases = await services.vectors.listAliases();
  const aliases = listedAliases
    .filter(({ collection_name }) => collection_name === run.plan.sourceCollection)
    .map(({ alias_name }) => alias_name);
  await updateRun({ window: { ...windowOf(run), aliases } });
  return aliases;
}

/** Leaves alone an alias that another program has moved. Recreates an alias that was deleted with its collection. */
async function moveAliases(
  { services: { vectors }, run, renewLease }: ActivationContext,
  aliases: readonly string[],
  to: string,
): Promise<void> {
  if (aliases.length === 0) return;
  const collectionByAlias = new Map(
    (await vectors.listAliases()).map(({ alias_name, collection_name }) => [
      alias_name,
      collection_name,
    ]),
  );
  const ownCollections = [undefined, ...listSwitchableCollections(run)];
  const aliasesToMove = aliases.filter((alias) => {
    const collection = collectionByAlias.get(alias);
    return collection !== to && ownCollections.includes(collection);
  });
  if (aliasesToMove.length === 0) return;
  await renewLease();
  await vectors.moveAliases(aliasesToMove, to);
}

function listSwitchableCollections(run: Run): readonly string[] {
  return [run.plan.sourceCollection, liveCollectionOf(run), restoredCollectionOf(run)];
}

/** @throws Refusal if another program changed the setting: users may be writing to another collection. */
export async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const active = await setting.read();
  if (isSettingKnown(run, active)) return;
  throw refuseChangedSetting(active, liveCollectionOf(run));
}

export function isSettingKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}

export const confirmInputSchema = v.strictObject({
  runId: runIdSchema,
  action: v.picklist(EXTERNAL_ACTIONS),
  confirmedBy: personSchema,
});

/** @throws Refusal */
export async function confirmAction({ runs }: Pick<Services, 'runs'>, payload: unknown) {
  try {
    const { runId, action, confirmedBy: by } = parseInput(confirmInputSchema, payload);
    await runs.confirm(await runs.read(runId), { action, by });
    return { runId, action, confirmedBy: by };
  } catch (error) {
    throw translateFailure(error);
  }
}
