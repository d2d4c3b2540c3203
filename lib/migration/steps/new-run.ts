// A run begins with its preflight: its plan is fixed from then on, and the lock belongs to it until it has ended.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';
import { parseInput } from '../runs/parse-input.ts';
import { isPrintable } from '../runs/printable.ts';
import { type Plan, planSchema, type Run } from '../runs/run.ts';
import { namesOf } from '../runs/run-names.ts';
import { runStep, type StepResult } from '../runs/step.ts';
import { stepInputSchema } from '../runs/step-input.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';
import { forecastPreflight, preflight } from './preflight.ts';

// The store names the file of a snapshot after its collection, with 58 bytes more; the run appends up to 53.
const MAX_NAME_BYTES = 140;

// Qdrant's own rule, with room for what a run appends.
const collectionName = v.pipe(
  v.string(),
  v.regex(/^[^/\\:*?"<>|\0]+$/),
  v.maxBytes(MAX_NAME_BYTES),
  v.check(isPrintable),
  v.description(
    `a name of 1 to ${MAX_NAME_BYTES} bytes in UTF-8, none of them / \\ : * ? " < > | or a control character`,
  ),
);

const { windowMinutes, drainSeconds, retentionDays, vectorSample, removesWhenOver } =
  planSchema.entries;

/** Beside those of every step. */
const planInput = {
  /** Needed for a new run. */
  sourceCollection: v.optional(collectionName),
  uploadAs: v.optional(collectionName),
  windowMinutes: v.optional(windowMinutes),
  drainSeconds: v.optional(drainSeconds),
  retentionDays: v.optional(retentionDays),
  vectorSample,
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
    const plan = run ? samePlan(run, input) : planOf(input);
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
  try {
    return await runs.read(input.runId);
  } catch (error) {
    const isNew = error instanceof Refusal && error.name === 'RefusedUnknownRun';
    if (isNew && input.sourceCollection !== undefined) return undefined;
    throw error;
  }
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
function samePlan({ runId, plan, phase }: Run, input: PreflightInput): Plan {
  const changed = Object.keys(planInput).filter((field) => {
    const value = input[field as keyof typeof planInput];
    return value !== undefined && value !== plan[field as keyof Plan];
  });
  if (changed.length === 0) return plan;
  const why = `Run ${runId} (${phase}) has another ${changed.join(', ')}, and a plan is fixed.`;
  throw new Refusal('RefusedRunExists', why);
}
