// Checks everything that can stand in the way of a migration, changes nothing, and reports all problems at once. A run begins
// with it: its plan is fixed from then on, and the lock belongs to it until it has ended.
import * as v from 'valibot';
import { isRefusal, Refusal, takeAs } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput, stepInputSchema } from '../runs/input.ts';
import { isPrintable } from '../runs/printable.ts';
import { storeReport } from '../runs/reports.ts';
import { type Plan, planSchema, type Run } from '../runs/run.ts';
import { namesOf, testUserOf } from '../runs/run-names.ts';
import {
  type Forecast,
  runStep,
  type Step,
  type StepContext,
  type StepRequest,
  type StepResult,
} from '../runs/step.ts';
import type { Services } from '../services.ts';
import { checkKey } from './backend-key.ts';
import { premadeOf } from './new-version.ts';
import {
  checkCollection,
  checkGraph,
  checkMemories,
  checkNames,
  checkRetention,
  checkSpace,
  checkStore,
  type Prerequisite,
} from './prerequisites.ts';
import { scanCollection } from './recorded-counts.ts';

export const preflight: Step = {
  command: 'preflight',
  forecast: forecastPreflight,
  work: async (context) => {
    const { services, run, lease } = context;
    const { plan } = run;
    const prerequisites = [
      ...(await checkPrerequisites(context)),
      await checkRetention(services, lease),
    ];
    const problems = prerequisites.flatMap(({ problems }) => problems).length;
    const at = services.clock().toISOString();
    const evidence = await storeReport(context, 'preflight-report', {
      facts: { problems },
      more: { at, plan, testUser: testUserOf(run.runId), prerequisites },
    });
    if (problems === 0) return { done: true, evidence, report: { plan, prerequisites } };
    await withdrawEarlier(context);
    throw refusalOf(prerequisites, evidence.artifact);
  },
};

/** The plan and every prerequisite, also of a run that does not exist yet. */
async function forecastPreflight(context: StepRequest): Promise<Forecast> {
  return { plan: context.run.plan, prerequisites: await checkPrerequisites(context) };
}

/** Of one prerequisite; the report has all of them. */
const MAX_REPORTED = 5;

function refusalOf(prerequisites: readonly Prerequisite[], report: string): Refusal {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0);
  const lines = failed.map(({ name, problems }) => {
    const reported = problems.slice(0, MAX_REPORTED).map(({ why, remedy }) => `${why} ${remedy}`);
    const more = problems.length - reported.length;
    return `${name}: ${[...reported, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')}`;
  });
  return new Refusal('RefusedPrerequisites', `${lines.join(' ')} The report is ${report}.`);
}

async function checkPrerequisites(request: StepRequest): Promise<Prerequisite[]> {
  const { services, run, input } = request;
  const { vectors, backend, preview } = services;
  const { sourceCollection: source } = run.plan;
  const store = await checkStore(vectors);
  await backend.health();
  // Nothing else is asked: some versions create their collection with the first other request. The first write of the
  // rebuild, long before the window, proves whom this one takes the key for.
  await preview?.health();
  const info = await vectors.collectionInfo(source);
  const names = await checkNames(services, run, await premadeOf(services, run));
  const first = [store, names, ...(info ? [checkCollection(info)] : [])];
  const graph = await checkGraph(services, run.plan);
  // A collection of another kind, or one that forbids it, is not read.
  if (first.some(({ problems }) => problems.length > 0)) return [...first, graph];
  return [
    ...first,
    graph,
    await checkKey(services, run),
    checkMemories(await scanCollection(services, run, source), run.plan),
    await checkSpace(vectors, run.plan, input.freeBytes),
  ];
}

// What it said holds no more, and nothing is to be built upon it.
async function withdrawEarlier({ run, note }: StepContext): Promise<void> {
  const { 'preflight-report': earlier, ...evidence } = run.evidence;
  if (earlier) await note({ evidence });
}

// The store names the file of a snapshot after its collection, with 58 bytes more; the run appends up to 53.
const MAX_NAME_BYTES = 140;

// Qdrant's own rule, with room for what a run appends.
export const collectionNameSchema = v.pipe(
  v.string(),
  v.regex(/^[^/\\:*?"<>|\0]+$/),
  v.maxBytes(MAX_NAME_BYTES),
  v.check(isPrintable),
  v.description(
    `a name of 1 to ${MAX_NAME_BYTES} bytes in UTF-8, none of them / \\ : * ? " < > | or a control character`,
  ),
);

const { windowMinutes, drainSeconds, retentionDays, removesWhenOver } = planSchema.entries;

/** Beside those of every step. */
const planInput = {
  /** Needed for a new run. */
  sourceCollection: v.optional(collectionNameSchema),
  uploadAs: v.optional(collectionNameSchema),
  windowMinutes: v.optional(windowMinutes),
  drainSeconds: v.optional(drainSeconds),
  retentionDays: v.optional(retentionDays),
  removesWhenOver: v.optional(removesWhenOver),
  removesArtifactsWhenOver: v.optional(removesWhenOver),
};

export const preflightInputSchema = v.strictObject({ ...stepInputSchema.entries, ...planInput });

type PreflightInput = v.InferOutput<typeof preflightInputSchema>;

/** The plan of a run whose input leaves everything out but its source. */
const DEFAULT_PLAN = {
  ...{ windowMinutes: 30, drainSeconds: 60, retentionDays: 30 },
  ...{ removesWhenOver: false, removesArtifactsWhenOver: false },
};

/** Checks the prerequisites of a run, and creates the run if it does not exist. @throws Refusal */
export async function takePreflight(
  services: Services,
  payload: unknown,
  invocation: Omit<Parameters<typeof runStep>[2], 'payload'>,
): Promise<StepResult> {
  try {
    const input = parseInput(preflightInputSchema, payload);
    const { runId, execute, actor, accepts, freeBytes } = input;
    const step = { runId, execute, actor, accepts, freeBytes };
    const run = await findRun(services, input);
    if (run) assertSamePlan(run, input);
    const plan = run?.plan ?? planOf(input);
    if (!execute) {
      const draft: Run = run ?? { runId, plan, phase: 'started', evidence: {}, startedAt: 0 };
      const accepting = {
        ...draft,
        plan: { ...plan, accepts: [...plan.accepts, ...(accepts ?? [])] },
      };
      const forecast = await forecastPreflight({ services, input: step, run: accepting });
      return { runId, dryRun: true, forecast };
    }
    if (!run) await createRun(services, input);
    const given = Object.entries(step).filter(([, value]) => value !== undefined);
    return await runStep(preflight, services, {
      ...invocation,
      payload: Object.fromEntries(given),
    });
  } catch (error) {
    throw translateFailure(error);
  }
}

/** @throws Refusal while another run is under way, and for an id that was used before */
export async function createRun(
  { runs }: Pick<Services, 'runs'>,
  input: v.InferInput<typeof preflightInputSchema>,
): Promise<Run> {
  return await runs.start(input.runId, planOf(input));
}

async function findRun({ runs }: Services, input: PreflightInput): Promise<Run | undefined> {
  const isNew = (error: unknown) =>
    isRefusal(error, 'RefusedUnknownRun') && input.sourceCollection !== undefined;
  return await runs.read(input.runId).catch(takeAs(undefined, isNew));
}

function planOf(input: v.InferInput<typeof preflightInputSchema>): Plan {
  const { runId, sourceCollection = '', accepts = [], freeBytes } = input;
  const given = Object.keys(planInput).flatMap((field) => {
    const value = input[field as keyof typeof planInput];
    return value === undefined ? [] : [[field, value] as const];
  });
  const plan: Plan = {
    ...{ ...DEFAULT_PLAN, sourceCollection, accepts },
    ...Object.fromEntries(given),
    targetCollection: `${sourceCollection}_v3_${runId}`,
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
  const names = namesOf({ runId, plan });
  if (new Set(names).size === names.length) return plan;
  const why = `${plan.uploadAs} is a name that the run gives to something else.`;
  throw new Refusal('RefusedNameTaken', why);
}

/** A plan is fixed: what is given of it again has to be the same. @throws Refusal */
export function assertSamePlan(
  { runId, plan, phase }: Pick<Run, 'runId' | 'plan' | 'phase'>,
  input: Readonly<Record<string, unknown>>,
): void {
  const changed = Object.keys(planInput).filter((field) => {
    const value = input[field];
    return value !== undefined && value !== plan[field as keyof Plan];
  });
  if (changed.length === 0) return;
  const why = `Run ${runId} (${phase}) has another ${changed.join(', ')}, and a plan is fixed.`;
  throw new Refusal('RefusedRunExists', why);
}
