// Fills the new collection: everything once, and from then on whatever has changed since, deletions too.
import { COPY_START, type CopyCheckpoint, type CopySettings, copyPoints } from '../copy/copy.ts';
import { type CopyPlan, copySettings, type PlannedCopy, planCopy } from '../copy/copy-plan.ts';
import { copyDelta, DELTA_START, type DeltaCheckpoint } from '../copy/delta.ts';
import { assertHealthy } from '../copy/health.ts';
import { createPointWriter } from '../copy/point-writer.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Outcome, Step, StepContext, Turn } from '../runs/step.ts';
import { forecastCopy } from './copy-forecast.ts';

// Written and read by this step alone.
interface State {
  readonly copy?: CopyCheckpoint;
  readonly delta?: DeltaCheckpoint;
}

export const copy: Step = {
  command: 'copy',
  forecast: async (context) => await forecastCopy(context, await plan(context)),
  work: async (turn) => {
    const planned = await settle(turn);
    assertKeywords(planned, turn.run);
    const isFirst = turn.run.evidence['copy-report'] === undefined;
    return isFirst ? await copyAll(turn, planned) : await copyChanges(turn, planned);
  },
};

function plan(context: StepContext): Promise<CopyPlan> {
  return planCopy(plannedFor(context));
}

interface Settled {
  readonly settings: CopySettings;
  readonly total: number;
}

// Users are counted for a dry run alone: a store that cannot do it by itself is gone through for that, every time.
async function settle(context: StepContext): Promise<Settled> {
  const planned = plannedFor(context);
  const total = await planned.store.count(planned.source);
  return { settings: await copySettings(planned), total };
}

function plannedFor({ services, run }: StepContext): PlannedCopy {
  const { sourceCollection: source, targetCollection: target } = run.plan;
  return { store: services.vectors, source, target, now: () => performance.now() };
}

function assertKeywords({ settings }: Settled, { plan }: Run): void {
  if (settings.keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    settings.keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors of texts.';
  throw new Refusal('RefusedKeywordGaps', why);
}

async function copyAll(turn: Turn, { settings, total }: Settled): Promise<Outcome> {
  const reached = await copyPoints(
    settings,
    portsOf(turn, (copy: CopyCheckpoint) => ({
      state: { copy },
      progress: { done: copy.copied, total },
    })),
    stateOf(turn).copy ?? COPY_START,
  );
  if (!reached.isComplete) return { done: false, waitSeconds: 0 };
  const { copied, withText, withoutKeywords } = reached;
  return await report(turn, { copied, withText, withoutKeywords });
}

async function copyChanges(turn: Turn, { settings, total }: Settled): Promise<Outcome> {
  const { source, target, pageSize, insertMode, keywords } = settings;
  const fillsKeywords = keywords === 'by-store';
  const { renew: assertTurn } = turn;
  const writer = createPointWriter({ target, insertMode, fillsKeywords, assertTurn });
  const reached = await copyDelta(
    { source, target, writer, pageSize },
    portsOf(turn, (delta: DeltaCheckpoint) => ({
      state: { delta },
      progress: { done: delta.compared, total },
    })),
    stateOf(turn).delta ?? DELTA_START,
  );
  if (!reached.isComplete) return { done: false, waitSeconds: 0 };
  const { compared, inserted, replaced, refilled, deleted } = reached;
  return await report(turn, { compared, inserted, replaced, refilled, deleted });
}

function portsOf<Checkpoint>(
  { services, run, renew, save, hasTime }: Turn,
  toSaved: (checkpoint: Checkpoint) => {
    readonly state: State;
    readonly progress: { readonly done: number; readonly total: number };
  },
) {
  const collections = [run.plan.sourceCollection, run.plan.targetCollection];
  return {
    assertTurn: async () => {
      await renew();
      await assertHealthy(services.vectors, collections);
    },
    isTimeUp: () => !hasTime(),
    saveCheckpoint: async (checkpoint: Checkpoint) => {
      const { state, progress } = toSaved(checkpoint);
      await save(state, progress);
    },
  };
}

function stateOf({ checkpoint }: Turn): State {
  return (checkpoint?.state ?? {}) as State;
}

async function report(
  { services, lease, run }: Turn,
  figures: Readonly<Record<string, number>>,
): Promise<Outcome> {
  const evidence = await storeReport(services, {
    lease,
    name: 'copy-report',
    content: { runId: run.runId, ...figures },
    facts: figures,
  });
  return { done: true, evidence };
}
