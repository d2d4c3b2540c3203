// Goes back: nothing is lost before the first write to the new version; later only what is acknowledged,
// to the exact number, and exported before anything is changed.
import * as v from 'valibot';
import { wayBackEnded } from '../next-step.ts';
import { storeReport } from '../ports/reports.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { restoredCollectionOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepInput, Turn } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { isDoneOutside } from './ask-outside.ts';
import { countLostWrites, exportLostWrites } from './lost-writes.ts';
import { isOldIntact, restoreOld } from './old-collection.ts';

const stateSchema = v.object({
  returnTo: v.optional(v.string()),
  lost: v.optional(v.number()),
  exportedTo: v.optional(v.string()),
});

type State = v.InferOutput<typeof stateSchema>;

const POLL_SECONDS = 5;

export const rollback: Step = {
  command: 'rollback',
  forecast: async ({ services, run }) => {
    const isIntact = run.switchedAt === undefined || (await isOldIntact(services, run));
    return {
      returnsTo: isIntact ? run.plan.sourceCollection : restoredCollectionOf(run),
      lostWrites: run.switchedAt === undefined ? 0 : await measured(services, run, isIntact),
    };
  },
  guard: async ({ services, run, input }) => {
    const { retainUntil = Number.POSITIVE_INFINITY } = run;
    if (services.clock().getTime() >= retainUntil) {
      throw new Refusal('RefusedIrreversible', wayBackEnded(retainUntil));
    }
    if (run.switchedAt === undefined || !(await isOldIntact(services, run))) return;
    assertAcknowledged(await countLostWrites(services, run, run.plan.sourceCollection), input);
  },
  work: async (turn) => {
    const { services, run } = turn;
    const state = v.parse(stateSchema, turn.checkpoint?.state ?? {});
    return run.switchedAt === undefined
      ? await openAgain(turn, { returnTo: run.plan.sourceCollection, lost: 0 })
      : await goBack(turn, state, services);
  },
};

async function goBack(turn: Turn, state: State, services: Services): Promise<Outcome> {
  const { run, renew, save } = turn;
  const { sourceCollection, targetCollection } = run.plan;
  // From here on the number cannot change any more.
  if (!(await isDoneOutside(turn, 'freeze', targetCollection))) return waiting();
  await renew();
  const returnTo =
    state.returnTo ??
    ((await isOldIntact(services, run)) ? sourceCollection : await restoreOld(turn));
  await save({ ...state, returnTo });
  const settled = await settleLoss(turn, { ...state, returnTo });
  await renew();
  const present = await services.setting.read();
  if (present !== returnTo) {
    const from = present === sourceCollection ? sourceCollection : targetCollection;
    await services.setting.change({ from, to: returnTo });
  }
  if (!(await isDoneOutside(turn, 'deploy-old', returnTo))) return waiting();
  await services.backend.health();
  return await openAgain(turn, settled);
}

type Settled = State & { readonly returnTo: string; readonly lost: number };

async function settleLoss(
  { services, run, input, lease, save }: Turn,
  state: State & { readonly returnTo: string },
): Promise<Settled> {
  if (state.lost !== undefined) return { ...state, lost: state.lost };
  const lost = await countLostWrites(services, run, state.returnTo);
  assertAcknowledged(lost, input);
  const settled = { ...state, lost };
  if (lost === 0) return settled;
  const exportedTo = `${run.runId}/lost-writes-${lease.epoch}.jsonl`;
  const exported = await exportLostWrites(services, run, { old: state.returnTo, key: exportedTo });
  // Somebody who writes despite the freeze would lose more than was agreed to.
  assertAcknowledged(exported, input);
  await save({ ...settled, exportedTo });
  return { ...settled, exportedTo };
}

async function openAgain(turn: Turn, state: Settled): Promise<Outcome> {
  const { services, run, lease } = turn;
  if (!(await isDoneOutside(turn, 'open-writes', state.returnTo))) return waiting();
  const facts = {
    returnedTo: state.returnTo,
    lost: state.lost,
    ...(state.exportedTo ? { exportedTo: state.exportedTo } : {}),
  };
  const evidence = await storeReport(services, {
    lease,
    name: 'return-report',
    content: { runId: run.runId, ...facts },
    facts,
  });
  return { done: true, evidence };
}

function assertAcknowledged(lost: number, { acknowledgedLoss = 0 }: StepInput): void {
  if (lost === acknowledgedLoss) return;
  throw new Refusal(
    'RefusedLossNotAcknowledged',
    `Going back loses ${lost} writes, and ${acknowledgedLoss} were acknowledged.`,
  );
}

async function measured(services: Services, run: Run, isIntact: boolean): Promise<number | string> {
  return isIntact
    ? await countLostWrites(services, run, run.plan.sourceCollection)
    : 'known once the snapshot is restored';
}

function waiting(): Outcome {
  return { done: false, waitSeconds: POLL_SECONDS };
}
