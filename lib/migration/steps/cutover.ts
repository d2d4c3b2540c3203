// The short step: the setting, the new version, the smoke test, a last look at both collections; then writes are opened, and
// the days are counted for which a rollback is possible.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import { Refusal } from '../refusals.ts';
import { readManifest, storeReport } from '../runs/reports.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  ofTestUser,
} from '../runs/run-names.ts';
import { passing, type Stage, takeStages } from '../runs/stages.ts';
import {
  type Outcome,
  type Step,
  type StepContext,
  type StepRequest,
  waiting,
} from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Scan } from '../scan.ts';
import { partsOf } from '../snapshots.ts';
import { filesOf } from './backup.ts';
import {
  carryingSchema,
  carryOverLateWrites,
  changedFingerprint,
  lateWriteFacts,
} from './carry-over.ts';
import { removeCollections, removeWarmUp, tidyUp } from './clean-up.ts';
import { verifiedFingerprint } from './copy.ts';
import { isDoneOutside, suspecting } from './external-action.ts';
import { assertAsFrozen } from './in-place.ts';
import { proveEmbeddings, smokeTest } from './new-version.ts';
import { assertCountsEqual, scanCollection } from './recorded-counts.ts';
import { canRollBack } from './rollback-source.ts';
import { assertNamesFree, type Uploads, uploadSwap, uploadsSchema } from './upload-swap.ts';

const stateSchema = v.object({
  passed: v.optional(v.array(v.string()), []),
  uploads: v.optional(uploadsSchema, {}),
  lateWrites: v.optional(carryingSchema, {}),
});

type State = v.InferOutput<typeof stateSchema>;

export const cutover: Step = {
  command: 'cutover',
  forecast: async (context) => {
    await assertReady(context);
    const { sourceCollection, targetCollection } = context.run.plan;
    const live = liveCollectionOf(context.run);
    return {
      ...(live === targetCollection ? {} : { uploads: { from: targetCollection, to: live } }),
      setting: { from: sourceCollection, to: live },
    };
  },
  mayBeLate,
  work: async (context) => {
    const { run, checkpoint, save } = context;
    if (run.switchedAt === undefined) await prepare(context);
    const from = v.parse(stateSchema, checkpoint?.state ?? {});
    const end = await takeStages(context, STAGES, { from, save });
    return end.isComplete ? await openWrites(context, end.state) : end.wait;
  },
};

type Advance = Stage<State>['advance'];

const upload: Advance = async (context, { uploads: from }, keep) => {
  const save = async (uploads: Uploads) => void (await keep({ uploads }));
  return (await uploadSwap(context, { from, save })) ?? {};
};

const deploy: Advance = async (context) => {
  const { services, run, renew } = context;
  const live = liveCollectionOf(run);
  if ((await services.setting.read()) !== live) await assertComplete(context);
  await renew();
  await services.setting.change({ from: run.plan.sourceCollection, to: live });
  return (await isDoneOutside(context, 'deploy-new', live)) ? {} : waiting('the webhook');
};

const proveNew: Advance = async (context) => {
  await prove(context).catch((failure: unknown) => {
    throw suspecting('deploy-new', liveCollectionOf(context.run), failure);
  });
  return {};
};

const STAGES: readonly Stage<State>[] = [
  passing('uploaded', upload),
  passing('deployed', deploy),
  passing('proved', proveNew),
];

// No stage: once users are let in, nothing that is to be saved stands between them and the end.
async function openWrites(context: StepContext, state: State): Promise<Outcome> {
  const { services, run, note, renew, save } = context;
  const live = liveCollectionOf(run);
  // Somebody may have changed it since: the next start of the backend would make another collection.
  await services.setting.change({ from: run.plan.sourceCollection, to: live });
  if (run.openedAt === undefined) {
    await assertUnchanged(context);
    await note({ openedAt: services.clock().getTime() });
  }
  // A rollback may have begun in the meantime: it must not find writes opened.
  await renew();
  if (!(await isDoneOutside(context, 'open-writes', live))) return waiting('the webhook');
  if (run.plan.inPlace) return await goLive(context, {});
  const late = await carryOverLateWrites(context, {
    from: state.lateWrites,
    save: (lateWrites) => save({ ...state, lateWrites } satisfies State),
  });
  return late.isComplete ? await goLive(context, lateWriteFacts(late.state)) : late.wait;
}

async function prove(context: StepContext): Promise<void> {
  const { services, run } = context;
  const collections = liveCollectionsOf(run);
  const [live] = collections;
  await removeWarmUp(context, collections);
  await proveEmbeddings(context, { backend: services.backend, known: live, collection: live });
  await removeWarmUp(context, collections);
  await smokeTest(context);
  await removeWarmUp(context, collections);
}

/** Once the new version is deployed, a memory that is missing may be one that a user has deleted. @throws Refusal */
async function assertComplete({ services: { vectors }, run }: StepContext): Promise<void> {
  const live = liveCollectionOf(run);
  const points = (await vectors.count(live)) - (await vectors.count(live, ofTestUser(run)));
  const verified = run.evidence['verification-report']?.facts.points;
  if (points === verified) return;
  const why = `${live} has ${points} points where ${verified} were verified.`;
  throw new Refusal('RefusedVerification', why);
}

async function assertAsVerified({ services, run }: StepContext): Promise<Scan> {
  const live = await scanCollection(services, run, liveCollectionOf(run));
  if (live.contents.digest === verifiedFingerprint(run)) return live;
  const why = `${liveCollectionOf(run)} is no longer what was verified.`;
  throw new Refusal('RefusedVerification', why);
}

/**
 * Right before writes are opened, each time that the step is taken: both collections are what was compared. A write
 * that came late to the old collection is not lost: users return to it.
 */
async function assertUnchanged(context: StepContext): Promise<void> {
  if (context.run.plan.inPlace) return await assertAsFrozen(context);
  const { services, run } = context;
  await assertCountsEqual(services, run, await assertAsVerified(context));
  if ((await changedFingerprint(services, run)) === undefined) return;
  const why = `${run.plan.sourceCollection} was written to after it was verified.`;
  throw new Refusal('RefusedSourceChanged', why);
}

// The window rolls back by itself. Where that would cost users their writes, or leads nowhere, a person may
// finish what has begun: a service that stands still has to have an exit.
async function mayBeLate({ services, run, input }: StepRequest): Promise<boolean> {
  if (input.actor !== 'operator' || run.switchedAt === undefined) return false;
  return run.openedAt !== undefined || !(await canRollBack(services, run));
}

/**
 * The setting is as it was found, and the names are free. What was written since both collections were compared is found
 * right before writes are opened. @throws Refusal
 */
async function assertReady({ services, run }: StepRequest): Promise<void> {
  const active = await services.setting.read();
  const { sourceCollection } = run.plan;
  if (active !== sourceCollection) throw changedSetting(active, sourceCollection);
  await assertNamesFree({ services, run });
}

// Here a refusal costs nothing; after writes were opened it would leave users between two versions.
async function prepare(context: StepContext): Promise<void> {
  await assertReady(context);
  const { services, run, note } = context;
  const now = services.clock().getTime();
  await retainBackup(context, new Date(now + run.plan.retentionDays * DAY_MS));
  await note({ switchedAt: now });
}

async function goLive(
  context: StepContext,
  lateWrites: Readonly<Record<string, string | number>>,
): Promise<Outcome> {
  const { services, run } = context;
  const liveAt = services.clock().getTime();
  const retainUntil = liveAt + run.plan.retentionDays * DAY_MS;
  const facts = { liveAt, retainUntil, ...lateWrites };
  const evidence = await storeReport(context, 'cutover-report', {
    facts,
    more: { plan: run.plan },
  });
  // They cannot be deleted already, but for the minutes that the switch took.
  await tidyUp(context, 'The reports are to be kept by hand', async () => {
    await retainBackup(context, new Date(retainUntil));
    await services.artifacts.retain(evidence.artifact, new Date(retainUntil));
  });
  const message = `${run.plan.targetCollection} or its companion, uploaded by now, is to be removed by hand`;
  await tidyUp(context, message, () => removeBuilt(context));
  return { done: true, evidence, changes: { liveAt, retainUntil } };
}

// Where it was uploaded under another name, what it was uploaded from is a second copy that nobody works on.
async function removeBuilt(context: StepContext): Promise<void> {
  const live = liveCollectionsOf(context.run);
  const built = builtCollectionsOf(context.run);
  await removeCollections(
    context,
    built.filter((name) => !live.includes(name)),
  );
}

/** What a rollback needs, and the reports up to now, cannot be deleted before that day. */
async function retainBackup(
  { services, run }: Pick<StepRequest, 'services' | 'run'>,
  until: Date,
): Promise<void> {
  const { snapshot, counts, graph } = await readManifest(services, run);
  const reports = Object.values(run.evidence).map(({ artifact }) => artifact);
  const kept = [...partsOf(snapshot), ...filesOf(graph), counts.artifact];
  for (const key of [...kept, ...reports]) await services.artifacts.retain(key, until);
}
