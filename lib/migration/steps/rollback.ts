// Goes back: nothing is lost before users are let into the new version; later only what is acknowledged, to the exact
// number, and exported. Whatever could stand in the way is looked at while everything is still as it was.
import * as v from 'valibot';
import { wayBackEnded } from '../next-step.ts';
import { changedSetting } from '../ports/collection-setting.ts';
import { Refusal } from '../refusals.ts';
import { DAY_MS } from '../runs/durations.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import { type Approach, type Outcome, type Step, type Turn, waiting } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { isDoneOutside } from './ask-outside.ts';
import { removeLeftoverSnapshot } from './leftover-snapshot.ts';
import { countLeastLost, countLostWrites, exportLostWrites, type Loss } from './lost-writes.ts';
import { tidyUp } from './tidy-up.ts';
import { removeUploads } from './upload-swap.ts';
import { findWayBack, prepareWayBack } from './way-back.ts';
import { FREEZE_POLL_SECONDS, lookSchema, proveFrozen } from './write-freeze.ts';

const stateSchema = v.object({
  returnTo: v.string(),
  /** By whoever began the return; whoever goes on with it need not say it again. */
  acknowledged: v.number(),
  look: v.optional(lookSchema),
  isFrozen: v.optional(v.boolean()),
  isDeployed: v.optional(v.boolean()),
  loss: v.optional(v.object({ lost: v.number(), exportedTo: v.optional(v.string()) })),
});

type State = v.InferOutput<typeof stateSchema>;

export const rollback: Step = {
  command: 'rollback',
  forecast: async ({ services, run }) => {
    assertRetained(services, run);
    if (run.switchedAt === undefined)
      return { returnsTo: run.plan.sourceCollection, lostWrites: 0 };
    const { returnTo, restoring } = await findWayBack(services, run);
    if (!restoring) {
      return { returnsTo: returnTo, lostWrites: await countLostWrites(services, run, returnTo) };
    }
    return {
      returnsTo: returnTo,
      restores: restoring.snapshot.name,
      lostWrites: { atLeast: await countLeastLost(services, run), exactly: UNKNOWN },
    };
  },
  guard: async (approach) => {
    const { services, run, input, save } = approach;
    assertRetained(services, run);
    // The old collection was never left.
    if (run.switchedAt === undefined) return;
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const returnTo = await prepareWayBack(approach);
    const acknowledged = input.acknowledgedLoss ?? 0;
    assertAcknowledged(run, await measureLoss(approach, returnTo), acknowledged);
    await save({ returnTo, acknowledged } satisfies State);
  },
  onEntering: ({ services }) => ({ returningAt: services.clock().getTime() }),
  mayBeLate: 'always',
  work: async (turn) => {
    const { run, checkpoint } = turn;
    return run.switchedAt === undefined
      ? await openAgain(turn, run.plan.sourceCollection, { lost: 0 })
      : await goBack(turn, v.parse(stateSchema, checkpoint?.state));
  },
};

const UNKNOWN =
  'told by a rollback that is executed without acknowledging any loss: it restores beside what users work on, and stops';

function assertRetained(
  { clock }: Services,
  { retainUntil = Number.POSITIVE_INFINITY }: Run,
): void {
  if (clock().getTime() < retainUntil) return;
  throw new Refusal('RefusedIrreversible', wayBackEnded(retainUntil));
}

async function goBack(turn: Turn, state: State): Promise<Outcome> {
  const { services, renew, save } = turn;
  const { returnTo } = state;
  const frozen = state.isFrozen ? state : await freezeNew(turn, state);
  if ('done' in frozen) return frozen;
  const loss = state.loss ?? (await settleLoss(turn, frozen));
  await renew();
  await pointBack(turn, returnTo);
  if (!state.isDeployed && !(await isDoneOutside(turn, 'deploy-old', returnTo))) return waiting();
  await services.backend.health();
  // One that does not answer is asked for again.
  if (!state.isDeployed) await save({ ...frozen, loss, isDeployed: true } satisfies State);
  await removeUploads(turn);
  return await openAgain(turn, returnTo, loss);
}

/**
 * Before anything is frozen, a setting that somebody else changed is a reason to stop: users may write there.
 * Once writes are frozen it is replaced, whatever it says: nobody writes anywhere, and users wait.
 */
async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (![liveCollectionOf(run), run.plan.sourceCollection].includes(present)) {
    throw changedSetting(present);
  }
}

async function pointBack({ services, run }: Turn, returnTo: string): Promise<void> {
  const { setting, log } = services;
  const present = await setting.read();
  if (![liveCollectionOf(run), run.plan.sourceCollection, returnTo].includes(present)) {
    const message = 'Somebody else changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: returnTo });
  }
  await setting.change({ from: present, to: returnTo });
}

// docs/decisions/automatic-return.md: only where users were let in, somebody has to be kept out.
async function freezeNew(turn: Turn, state: State): Promise<State | Outcome> {
  const { run, save } = turn;
  const [collection, companion] = liveCollectionsOf(run);
  if (!(await isDoneOutside(turn, 'freeze', collection))) return waiting();
  if (run.openedAt !== undefined) {
    const stillness = await proveFrozen(turn, {
      collection,
      companions: [companion],
      look: state.look,
      remember: (look) => save({ ...state, look } satisfies State),
    });
    if (!stillness) return waiting(FREEZE_POLL_SECONDS);
  }
  const frozen = { ...state, isFrozen: true };
  await save(frozen);
  return frozen;
}

// From here on the number cannot change any more: it is measured once more, and kept for as long as the backups are.
async function settleLoss(turn: Turn, state: State): Promise<Loss> {
  const { run, input, save } = turn;
  const loss = await measureLoss(turn, state.returnTo);
  const acknowledged = input.acknowledgedLoss ?? state.acknowledged;
  try {
    assertAcknowledged(run, loss, acknowledged);
  } catch (error) {
    // Until somebody decides, time passes: the freeze is proved again then.
    await save({ ...state, look: undefined, isFrozen: false } satisfies State);
    throw error;
  }
  if (loss.exportedTo) await keep(turn, loss.exportedTo);
  await save({ ...state, loss } satisfies State);
  return loss;
}

async function measureLoss({ services, run, lease }: Approach, old: string): Promise<Loss> {
  const key = `${run.runId}/lost-writes-${lease.epoch}.jsonl`;
  return await exportLostWrites(services, run, { old, key });
}

/** Where nobody was let in, what is found is reported, and stands in nobody's way. @throws Refusal */
function assertAcknowledged(run: Run, loss: Loss, acknowledged: number): void {
  const { lost, exportedTo } = loss;
  if (run.openedAt === undefined || lost === acknowledged) return;
  const where = exportedTo ? `, exported to ${exportedTo}` : '';
  throw new Refusal(
    'RefusedLossNotAcknowledged',
    `Going back loses ${lost} ${lost === 1 ? 'write' : 'writes'}${where}; acknowledged: ${acknowledged}.`,
  );
}

async function openAgain(turn: Turn, returnTo: string, loss: Loss): Promise<Outcome> {
  const { services, run, lease } = turn;
  if (!(await isDoneOutside(turn, 'open-writes', returnTo))) return waiting();
  const message = 'The snapshot that a backup has left on the store is to be removed by hand';
  await tidyUp(turn, message, () => removeLeftoverSnapshot(turn));
  const { lost, exportedTo } = loss;
  const facts = {
    returnedTo: returnTo,
    lost,
    ...(exportedTo ? { exportedTo, usersWereLetIn: run.openedAt !== undefined } : {}),
  };
  const evidence = await storeReport(services, {
    lease,
    name: 'return-report',
    content: { runId: run.runId, ...facts },
    facts,
  });
  await keep(turn, evidence.artifact);
  return { done: true, evidence };
}

/** As long as the other artifacts of the run, and no shorter than anything is kept from today on. */
async function keep({ services, run }: Turn, artifact: string): Promise<void> {
  const days = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  await services.artifacts.retain(artifact, new Date(Math.max(days, run.retainUntil ?? 0)));
}
