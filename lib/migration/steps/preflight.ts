// Checks all prerequisites of a migration, and reports all problems together. If every prerequisite is met, a run can begin: its
// plan is recorded and fixed, and the run holds the lock until it is live or has ended.
import * as v from 'valibot';
import { isPrintable, toWords } from '../../shared/printable.ts';
import { isBeforeWindow } from '../phases.ts';
import { isRefusal, notNow, Refusal, recoverWith } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput, stepInputSchema } from '../runs/input.ts';
import { storeReport } from '../runs/reports.ts';
import { bytesSchema, newRun, type Plan, planSchema, type Run, runIdSchema } from '../runs/run.ts';
import { collectionNamesOf, testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { limitReads, type Time } from '../throttle.ts';
import { MEMORY_BACKEND, NEW_VERSION } from './backend-endpoints.ts';
import { KEY_OF_TEST_USER } from './backend-key.ts';
import { COLLECTION_NAMES, MEMORIES, VECTOR_LAYOUT, VECTOR_STORE } from './collection-checks.ts';
import { DEPLOYED_VERSION } from './deployed-version.ts';
import { type Check, isMet, type Prerequisite, runChecks } from './prerequisites.ts';
import { ARTIFACTS, COLLECTION_SETTING, GRAPH_STORE, WEBHOOK } from './service-checks.ts';
import { IN_PLACE, KEYWORD_VECTORS } from './store-probes.ts';
import { DISK_SPACE, SNAPSHOT_UPLOAD } from './store-space.ts';

/** All checks, each after those that it needs. With `mayWrite`, some of them test their service with a write. */
const CHECKS: readonly Check[] = [
  VECTOR_STORE,
  MEMORY_BACKEND,
  NEW_VERSION,
  COLLECTION_NAMES,
  VECTOR_LAYOUT,
  KEY_OF_TEST_USER,
  DEPLOYED_VERSION,
  MEMORIES,
  DISK_SPACE,
  SNAPSHOT_UPLOAD,
  IN_PLACE,
  GRAPH_STORE,
  WEBHOOK,
  COLLECTION_SETTING,
  KEYWORD_VECTORS,
  ARTIFACTS,
];

// The run adds up to 53 bytes to the name of a collection; to that, the store adds 58 bytes to name a snapshot file.
const MAX_NAME_BYTES = 140;

// Qdrant's rule, with room for what is added to a name
export const collectionNameSchema = v.pipe(
  v.string(),
  v.regex(/^[^/\\:*?"<>|\0]+$/),
  v.maxBytes(MAX_NAME_BYTES),
  v.check(isPrintable),
  v.description(
    `a name of 1 to ${MAX_NAME_BYTES} bytes in UTF-8, none of them / \\ : * ? " < > | or a control character`,
  ),
);

const { windowMinutes, deploySeconds, drainSeconds, retentionDays, accepts, removesWhenOver } =
  planSchema.entries;

const planInput = {
  /** Required for a new run */
  sourceCollection: v.optional(collectionNameSchema),
  uploadAs: v.optional(collectionNameSchema),
  inPlace: v.optional(v.boolean()),
  movesAliases: v.optional(v.boolean()),
  windowMinutes: v.optional(windowMinutes),
  deploySeconds,
  drainSeconds: v.optional(drainSeconds),
  retentionDays: v.optional(retentionDays),
  removesWhenOver: v.optional(removesWhenOver),
  removesArtifactsWhenOver: v.optional(removesWhenOver),
};

export const preflightInputSchema = v.strictObject({
  runId: runIdSchema,
  /** True if only the memory backend is checked, and nothing is recorded */
  backendOnly: v.optional(v.boolean(), false),
  /** False for a dry run: nothing is recorded. */
  execute: v.optional(v.boolean(), false),
  accepts: v.optional(accepts),
  freeBytes: v.optional(bytesSchema),
  maxRate: stepInputSchema.entries.maxRate,
  ...planInput,
});

type PreflightInput = v.InferOutput<typeof preflightInputSchema>;

/** Defaults for fields that the input leaves out */
const DEFAULT_PLAN = {
  windowMinutes: 30,
  drainSeconds: 60,
  retentionDays: 30,
  removesWhenOver: false,
  removesArtifactsWhenOver: false,
};

/**
 * Checks the prerequisites of a run that has not opened its window. With `execute`, begins the run if it does not exist and all
 * prerequisites are met.
 * @throws Refusal while another run is under way
 */
export async function runPreflight(allServices: Services, payload: unknown, time?: Time) {
  try {
    const input = parseInput(preflightInputSchema, payload);
    const { runId, execute, maxRate } = input;
    if (input.backendOnly) return await runBackendCheck(allServices, payload);
    const services = limitReads(allServices, input, time);
    const existingRun = await findRun(services, input);
    if (!existingRun) await services.lock.assertFree();
    const requestedPlan = existingRun ? addAcceptances(existingRun.plan, input) : buildPlan(input);
    const run = existingRun
      ? { ...existingRun, plan: requestedPlan }
      : newRun({ runId, plan: requestedPlan, evidence: {} }, services.clock());
    const prerequisites = await runChecks(CHECKS, { services, run, mayWrite: execute });
    const isBeginning = execute && !existingRun && prerequisites.every(isMet);
    const deployed = prerequisites.find(({ name }) => name === DEPLOYED_VERSION.name);
    const sameVersion = deployed?.facts?.deployed === 'new';
    const plan = sameVersion && !existingRun ? { ...requestedPlan, sameVersion } : requestedPlan;
    if (isBeginning) await begin(services, { ...run, plan }, prerequisites);
    if (maxRate !== undefined && execute && (existingRun || isBeginning)) {
      await services.runs.limitRate(runId, maxRate);
    }
    return { runId, dryRun: !execute, plan, prerequisites };
  } catch (error) {
    throw translateFailure(error);
  }
}

/** Checks the memory backend alone, which needs no run, table or store. */
export async function runBackendCheck(
  services: Pick<Services, 'backend' | 'clock'>,
  payload: unknown,
) {
  const input = parseInput(preflightInputSchema, payload);
  const { runId, execute } = input;
  if (execute) {
    throw new Refusal(
      'RefusedSetting',
      'A check of the backend alone begins no run: leave out backendOnly or execute.',
    );
  }
  const plan = buildPlan(input);
  const run = newRun({ runId, plan, evidence: {} }, services.clock());
  const context = { services, run, mayWrite: false };
  const prerequisites = await runChecks([MEMORY_BACKEND], context);
  return { runId, dryRun: true, plan, prerequisites };
}

export type PreflightResult = Awaited<ReturnType<typeof runPreflight>>;

function addAcceptances(plan: Plan, { accepts = [], freeBytes }: PreflightInput): Plan {
  return {
    ...plan,
    accepts: [...plan.accepts, ...accepts],
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
}

async function findRun(services: Services, input: PreflightInput): Promise<Run | undefined> {
  const isNewRun = (error: unknown) =>
    isRefusal(error, 'RefusedUnknownRun') && input.sourceCollection !== undefined;
  const run = await services.runs.read(input.runId).catch(recoverWith(undefined, isNewRun));
  if (!run) return undefined;
  const { phase } = run;
  if (!isBeforeWindow(phase)) throw notNow(`A run that is ${phase} has no preflight.`);
  assertSamePlan(run, input);
  return run;
}

async function begin(
  services: Services,
  { runId, plan }: Run,
  prerequisites: readonly Prerequisite[],
): Promise<void> {
  const now = services.clock();
  // Before the run is recorded, it has no lease: the time stands in for the epoch.
  const lease = { runId, epoch: now.getTime() };
  const report = await storeReport({ services, lease }, 'preflight-report', {
    facts: {},
    details: { at: now.toISOString(), plan, testUser: testUserOf(runId), prerequisites },
  });
  await services.runs.start(runId, plan, report);
}

function buildPlan(input: PreflightInput): Plan {
  const { runId, sourceCollection = '' } = input;
  const givenFields = Object.keys(planInput).flatMap((field) => {
    const value = input[field as keyof typeof planInput];
    return value === undefined ? [] : [[field, value] as const];
  });
  const planWithDefaults = {
    ...DEFAULT_PLAN,
    sourceCollection,
    accepts: [],
    ...Object.fromEntries(givenFields),
    targetCollection: `${sourceCollection}_${input.inPlace ? 'preview' : 'v3'}_${runId}`,
  };
  if (input.inPlace && input.uploadAs !== undefined) {
    throw new Refusal(
      'RefusedSetting',
      'A migration in place uploads nothing: leave out uploadAs or inPlace.',
    );
  }
  if (input.inPlace && input.movesAliases) {
    throw new Refusal(
      'RefusedSetting',
      'In place, aliases stay: leave out movesAliases or inPlace.',
    );
  }
  const plan = addAcceptances(planWithDefaults, input);
  const names = collectionNamesOf({ runId, plan });
  if (new Set(names).size === names.length) return plan;
  const why = `The run uses the name ${plan.uploadAs} for another collection.`;
  throw new Refusal('RefusedNameTaken', why);
}

/** A plan is fixed. @throws Refusal if the input changes one of its fields */
export function assertSamePlan(
  { runId, plan, phase }: Pick<Run, 'runId' | 'plan' | 'phase'>,
  input: Readonly<Record<string, unknown>>,
): void {
  const conflicts = Object.keys(planInput).flatMap((field) => {
    const [requested, planned] = [input[field], plan[field as keyof Plan]];
    if (requested === undefined || requested === planned) return [];
    return [planned === undefined ? `no ${toWords(field)}` : `${toWords(field)} ${planned}`];
  });
  if (conflicts.length === 0) return;
  const why = `The plan of run ${runId} (${phase}) is fixed: ${conflicts.join(', ')}. Leave that option out, or begin another run once this one is live or aborted.`;
  throw new Refusal('RefusedSetting', why);
}
