// The switch to the new version, and the days that are counted from then on for which a rollback is possible.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import { readManifest, storeReport } from '../runs/reports.ts';
import { builtCollectionsOf, liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import { isWaiting, takeStages } from '../runs/stages.ts';
import type { Outcome, Step, StepContext, StepRequest } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { partsOf } from '../snapshots.ts';
import { filesOf } from './backup.ts';
import { removeCollections, tidyUp } from './clean-up.ts';
import { canRollBack } from './return-target.ts';
import { type SwitchState, switchSchema } from './switch.ts';
import { letIn, stagesForward } from './switch-forward.ts';
import { assertNamesFree } from './upload-swap.ts';

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
  // The window rolls back by itself. Where that would cost users their writes, or leads nowhere, a person may
  // finish what has begun: a service that stands still has to have an exit.
  mayBeLate: async ({ services, run, input }) => {
    if (input.actor !== 'operator' || run.switchedAt === undefined) return false;
    return run.openedAt !== undefined || !(await canRollBack(services, run));
  },
  work: async (context) => {
    const { checkpoint, save } = context;
    if (context.run.switchedAt === undefined) await prepare(context);
    const begun: SwitchState = { to: liveCollectionOf(context.run), passed: [] };
    const from = v.parse(switchSchema, checkpoint?.state ?? begun);
    const end = await takeStages(context, stagesForward(), { from, save });
    if (!end.isComplete) return end.wait;
    const facts = await letIn(context, end.state);
    return isWaiting(facts) ? facts : await goLive(context, facts);
  },
};

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

async function goLive(context: StepContext, reached: SwitchState['facts']): Promise<Outcome> {
  const { services, run } = context;
  const liveAt = services.clock().getTime();
  const retainUntil = liveAt + run.plan.retentionDays * DAY_MS;
  const facts = { liveAt, retainUntil, ...reached };
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
