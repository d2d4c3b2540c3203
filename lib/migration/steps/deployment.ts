// Takes the memory backend to a collection, in either direction: changes the setting and the aliases, has a version deployed, and
// finds out which one answers. A deployment takes its time, and may be reported as done although it is not.
import * as v from 'valibot';
import { isRetryableFailure, Refusal, RetryableFailure } from '../refusals.ts';
import type { Facts } from '../runs/journal.ts';
import { type Run, wentLive, windowOf } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { MINUTE_MS } from '../runs/times.ts';
import { askAgain, suspectAction, waitForAction } from './external-action.ts';
import { servesFrom } from './new-version.ts';

type Changing = Pick<StepContext, 'services' | 'run' | 'note' | 'renew'>;

/** Can be repeated. @throws Refusal if the setting names another collection */
export async function activate(
  context: Changing,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const { services, renew } = context;
  const aliases = await findAliases(context);
  await renew();
  if (from !== to) await services.setting.change({ from, to });
  await moveAliases(context, aliases, to);
}

/** The aliases of the old collection, recorded before the first is moved: a rollback moves back no others. */
async function findAliases({ services, run, note }: Changing): Promise<readonly string[]> {
  if (!run.plan.movesAliases || run.window?.aliases) return run.window?.aliases ?? [];
  const listed = await services.vectors.listAliases();
  const aliases = listed
    .filter(({ collection_name }) => collection_name === run.plan.sourceCollection)
    .map(({ alias_name }) => alias_name);
  await note({ window: { ...windowOf(run), aliases } });
  return aliases;
}

/** Leaves an alias that another program has moved elsewhere, and recreates one that was deleted with its collection. */
async function moveAliases(
  { services: { vectors }, run, renew }: Changing,
  aliases: readonly string[],
  to: string,
): Promise<void> {
  if (aliases.length === 0) return;
  const present = new Map(
    (await vectors.listAliases()).map(({ alias_name, collection_name }) => [
      alias_name,
      collection_name,
    ]),
  );
  const own = [undefined, ...switchableCollections(run)];
  const toMove = aliases.filter((alias) => {
    const collection = present.get(alias);
    return collection !== to && own.includes(collection);
  });
  if (toMove.length === 0) return;
  await renew();
  await vectors.pointAliases(toMove, to);
}

function switchableCollections(run: Run): readonly string[] {
  return [run.plan.sourceCollection, liveCollectionOf(run), restoredCollectionOf(run)];
}

/** Time limit of a deployment, unless the plan says that it takes longer. */
const DEPLOYMENT_MS = 15 * MINUTE_MS;
/** Time limit for the proof of a deployment that was reported as done. */
const PROOF_MS = 5 * MINUTE_MS;

const deployingSchema = v.object({
  since: v.optional(v.number()),
  /** The last request was answered, or is not to be made once more: the command was killed in it after the time limit. */
  isRequested: v.optional(v.boolean()),
  unprovedSince: v.optional(v.number()),
});

/**
 * Deploys and proves in one stage: a deployment that was reported as done, and is not, is requested again until the time limit.
 * Then writes are opened without a proof, or users stay on the new version: either way they can write.
 */
export async function deployBack(context: StepContext, to: string): Promise<Facts> {
  const { run, services } = context;
  const action = run.plan.sameVersion ? 'deploy-new' : 'deploy-old';
  const { since, isLast, unprovedSince } = await deployInTime(context, action, to);
  const standing = await findStanding(context, to);
  if (standing.kind === 'returned') return {};
  const { kind, why } = standing;
  if (kind !== 'untold' && services.clock().getTime() - unprovedSince < PROOF_MS) {
    // Not done although it was reported: the next request is another one, and is made however late, but only once.
    await context.keep({ since, isRequested: isLast || kind !== 'elsewhere', unprovedSince });
    if (kind === 'elsewhere') await askAgain(context);
    throw suspectAction(action, to, kind === 'away' ? why : notReturned(String(why)));
  }
  // A backend that says nothing may come back in either version: users return to the one that worked before the rollback.
  const isUnrestorable = kind === 'elsewhere' || kind === 'away';
  if (isUnrestorable && wentLive(run) && to !== liveCollectionOf(run)) {
    const message = `After "${action}" on ${to}: ${why} Writes are open on ${liveCollectionOf(run)} again.`;
    throw new Refusal('RefusedStillNewVersion', message);
  }
  const lookAt = `whether the backend works on ${to}${run.plan.sameVersion ? '' : ', in the old version'}`;
  const message = 'The backend does not prove that users are back; the rollback goes on';
  services.log({ level: 'WARN', message, runId: run.runId, lookAt, why: String(why) });
  return { oldVersion: 'unproved', lookAt };
}

/**
 * Waits until it is deployed, or its time is over. A command that was killed in its request makes that once more, however late:
 * its time may have passed without any request.
 * @returns when it was first requested, whether it is not requested again, and since when its proof is awaited
 */
async function deployInTime(
  context: StepContext,
  action: 'deploy-new' | 'deploy-old',
  collection: string,
) {
  const { run, services, cursor, keep } = context;
  const now = services.clock().getTime();
  const recorded = v.parse(v.fallback(deployingSchema, {}), cursor);
  const { since = now, isRequested = false, unprovedSince = now } = recorded;
  const until = since + Math.max(DEPLOYMENT_MS, 2_000 * (run.plan.deploySeconds ?? 0));
  const isOver = now >= until;
  if (isOver && isRequested) return { since, isLast: true, unprovedSince };
  // Time for a proof counts from the end of a deployment: while another one is awaited, none has begun.
  await keep({ since, isRequested: isOver });
  await waitForAction(context, action, collection).catch(async (error: unknown) => {
    if (!context.signal.aborted) await keep({ since, isRequested: true });
    throw retryUntilDeadline(error, until);
  });
  const deployed = { since, unprovedSince: isOver ? services.clock().getTime() : unprovedSince };
  await keep({ ...deployed, isRequested: true });
  return { ...deployed, isLast: isOver };
}

function notReturned(why: string): RetryableFailure {
  return new RetryableFailure('RetryableUnavailable', why, { answer: 200 });
}

/** The operator may repair a webhook that refuses while users wait, so it is called again until the deadline. */
function retryUntilDeadline(error: unknown, deadline: number): unknown {
  if (!(error instanceof Refusal)) return error;
  const until = new Date(deadline).toISOString();
  const why = `${error.why} It is asked again until ${until}; then writes are opened without it.`;
  return new RetryableFailure('RetryableUnavailable', why, { cause: error, answer: 400 });
}

/** The old version may be deployed already. A new version that still answers is left alone. */
export async function deployAgain(context: StepContext, to: string): Promise<void> {
  if ((await findStanding(context, to)).kind === 'elsewhere') return;
  const collection = liveCollectionOf(context.run);
  await deployInTime(context, 'deploy-new', collection);
  const standing = await findStanding(context, to);
  if (standing.kind === 'elsewhere') return;
  const message = 'The backend does not prove that the new version is back; writes are opened';
  const lookAt = `whether the backend works on ${collection}`;
  const why = standing.kind === 'returned' ? `It works on ${to}.` : String(standing.why);
  context.services.log({ level: 'WARN', message, runId: context.run.runId, lookAt, why });
}

/** Progress of a rollback's deployment, by what the backend answers. */
type Standing =
  | { readonly kind: 'returned' }
  /** elsewhere: users are not back. unproved: a later answer may tell. untold: no answer will ever tell. */
  | { readonly kind: 'elsewhere' | 'unproved' | 'untold' | 'away'; readonly why: unknown };

/**
 * The answer of the old version proves that users are back. A run may have the new version alone: then the backend is searched for
 * a memory that only the collection to return to has, and after that for one that only the other collection has.
 */
async function findStanding(context: StepContext, to: string): Promise<Standing> {
  const { services, run } = context;
  const live = liveCollectionOf(run);
  const { sameVersion = false } = run.plan;
  try {
    await services.backend.health();
    const isNew = sameVersion || (await services.backend.isGraphDeprecated(testUserOf(run.runId)));
    if (!isNew || (sameVersion && to === live)) return { kind: 'returned' };
    const isThere = to !== live && (await servesFrom(context, to, live));
    if (isThere && sameVersion) return { kind: 'returned' };
    if (isThere) return { kind: 'unproved', why: `The new version answers, on ${to}.` };
    if (!sameVersion) return { kind: 'elsewhere', why: 'The new version still answers.' };
    if (await servesFrom(context, live, to))
      return { kind: 'elsewhere', why: `The backend still works on ${live}.` };
    return { kind: 'unproved', why: `The backend does not show that it works on ${to}.` };
  } catch (why) {
    if (isRetryableFailure(why)) return { kind: 'away', why };
    if (why instanceof Refusal) return { kind: 'untold', why };
    throw why;
  }
}
