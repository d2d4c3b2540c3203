// Begins a run: its plan is fixed, and the lock is its own until it has ended.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';
import { parseInput } from '../runs/parse-input.ts';
import { isPrintable } from '../runs/printable.ts';
import { planSchema, type Run, runIdSchema } from '../runs/run.ts';
import { namesOf } from '../runs/run-names.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';

// The store's own rule, with room for what a run appends.
const collectionName = v.pipe(
  v.string(),
  v.regex(/^[^/\\:*?"<>|\0]{1,180}$/),
  v.check(isPrintable),
  v.description(
    'a name of 1 to 180 characters, none of them / \\ : * ? " < > | or unfit to be shown',
  ),
);

export const startInputSchema = v.strictObject({
  runId: runIdSchema,
  execute: v.optional(v.boolean(), false),
  sourceCollection: collectionName,
  uploadAs: v.optional(collectionName),
  windowMinutes: v.optional(planSchema.entries.windowMinutes, 30),
  retentionDays: v.optional(planSchema.entries.retentionDays, 30),
  accepts: v.optional(planSchema.entries.accepts, []),
  vectorSample: planSchema.entries.vectorSample,
  freeBytes: planSchema.entries.freeBytes,
  removesWhenOver: v.optional(planSchema.entries.removesWhenOver, false),
  removesArtifactsWhenOver: planSchema.entries.removesArtifactsWhenOver,
});

/** @throws Refusal */
export async function startRun({ runs }: Pick<Services, 'runs'>, payload: unknown) {
  try {
    const { runId, execute, ...plan } = parseInput(startInputSchema, payload);
    const full: Run['plan'] = {
      ...plan,
      targetCollection: `${plan.sourceCollection}_v3_${runId}`,
    };
    assertDifferent({ runId, plan: full });
    if (!execute) return { runId, dryRun: true, forecast: { plan: full } };
    const { phase } = await runs.start(runId, full);
    return { runId, dryRun: false, phase, done: true, waitSeconds: 0 };
  } catch (error) {
    throw translateFailure(error);
  }
}

function assertDifferent(run: Pick<Run, 'runId' | 'plan'>): void {
  const names = namesOf(run);
  if (new Set(names).size === names.length) return;
  const why = `${run.plan.uploadAs} is a name that the run gives to something else.`;
  throw new Refusal('RefusedTarget', why);
}
