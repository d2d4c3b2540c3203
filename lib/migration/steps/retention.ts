// Ends the rollback period: warns once a day in its last week, then removes what the plan says and closes the run.
import { refuseChangedSetting } from '../ports/collection-setting.ts';
import { Paused } from '../runs/journal.ts';
import { type Run, windowOf } from '../runs/run.ts';
import {
  backupPrefixesOf,
  basePrefixOf,
  liveCollectionOf,
  restoredCollectionOf,
  testUserOf,
  withCompanion,
} from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { DAY_MS, type Retention, retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections } from './clean-up.ts';
import { haveSameMemories } from './comparison.ts';
import { removeTextFingerprints } from './in-place.ts';
import { removeKept } from './last-copies.ts';

export const retention: Step = {
  command: 'retention',
  forecast: async ({ services, run }) => ({
    ...retentionOf(run, services.clock()),
    removes: run.plan.removesWhenOver ? run.plan.sourceCollection : null,
    removesBackups: run.plan.removesArtifactsWhenOver,
  }),
  work: async (context) => {
    const { services, run } = context;
    const period = retentionOf(run, services.clock());
    if (period.isOver) return await closeRun(context);
    if (period.isEnding && (await isReminderDue(services, run)))
      await remind(services, run, period);
    throw new Paused({ waitSeconds: DAY_MS / 1_000 });
  },
};

// The end is recorded before the first removal, so that a machine whose clock is slow also refuses a rollback.
async function closeRun(context: StepContext): Promise<Outcome> {
  const { services, run, updateRun } = context;
  const window = windowOf(run);
  if (window.overAt === undefined) {
    await updateRun({ window: { ...window, overAt: services.clock().getTime() } });
  }
  const { removesWhenOver, removesArtifactsWhenOver, inPlace } = run.plan;
  const removesMemories = removesArtifactsWhenOver || (removesWhenOver && !inPlace);
  const { deletes } = context.input;
  await removeKept({ services, run, deletes, removesMemories }, () => removeExpired(context));
  return {};
}

// Backups are removed first: if one of them is still protected from deletion, the old collection is kept, too. The last common
// version is removed last, because the old collection is compared with it.
async function removeExpired(context: StepContext): Promise<void> {
  const { services, run, renewLease, updateRun } = context;
  const { removesWhenOver, removesArtifactsWhenOver } = run.plan;
  for (const prefix of removesArtifactsWhenOver ? backupPrefixesOf(run) : []) {
    await renewLease();
    await services.artifacts.deleteAll(prefix);
  }
  if (run.plan.inPlace) await removeTextFingerprints(context);
  if (removesWhenOver && !run.plan.inPlace) await removeOldCollection(context);
  // First the record drops the base, so that after a kill nothing reads the base's half-deleted artifacts.
  await updateRun({ base: undefined });
  await renewLease();
  await services.artifacts.deleteAll(basePrefixOf(run));
}

// Removes the old collection, and the snapshot that a refused or abandoned rollback restored. The old collection is kept if it has
// changed: a program may still write to it, and such writes exist nowhere else.
async function removeOldCollection(context: StepContext): Promise<void> {
  const { services, run, updateRun } = context;
  const { sourceCollection } = run.plan;
  if (run.kept.includes(sourceCollection)) return;
  const active = await services.setting.read();
  const oldCollections = [
    ...(run.plan.sameVersion ? withCompanion(sourceCollection) : [sourceCollection]),
    restoredCollectionOf(run),
  ];
  if (oldCollections.includes(active)) throw refuseChangedSetting(active, liveCollectionOf(run));
  const exists = await services.vectors.collectionExists(sourceCollection);
  if (!exists || (await haveSameMemories(context, sourceCollection, { base: run.base }))) {
    return await removeCollections(context, oldCollections, { keepsOld: false });
  }
  await updateRun({ kept: [sourceCollection] });
  const message = 'The old collection changed after the switch and is kept: compare it by hand';
  services.log({ level: 'WARN', message, runId: run.runId, collection: sourceCollection });
  await removeCollections(context, oldCollections);
}

/** True if the last reminder is a day old, or was given before the rollback period ended */
export async function isReminderDue(
  { runs, clock }: Pick<Services, 'runs' | 'clock'>,
  { runId, window }: Run,
): Promise<boolean> {
  const remindedAt = (await runs.remindedAt(runId)) ?? Number.NEGATIVE_INFINITY;
  return remindedAt < (window?.overAt ?? 0) || clock().getTime() - remindedAt >= DAY_MS;
}

// The reminder is recorded last, so that a kill repeats the reminder rather than losing it.
export async function remind(services: Services, run: Run, period: Retention): Promise<void> {
  const { until, daysLeft } = period;
  const { removesWhenOver: removesOldCollection, removesArtifactsWhenOver: removesBackups } =
    run.plan;
  services.log({
    level: 'WARN',
    message: 'Rollback will soon be impossible: roll back before then, or not at all',
    runId: run.runId,
    until,
    daysLeft,
    removesOldCollection,
    removesBackups,
  });
  await warnWebhook(services, run, period);
  await services.runs.recordReminder(run.runId);
}

// A webhook that does not know this action, or does not respond, must not stop the retention.
async function warnWebhook(services: Services, run: Run, { daysLeft }: Retention): Promise<void> {
  const { runId, plan, window } = run;
  try {
    await services.hooks.ask({
      action: 'warn-of-end',
      runId,
      testUser: testUserOf(runId),
      deadlineAt: window?.retainUntil,
      collection: plan.sourceCollection,
      occasion: `days-left-${daysLeft}`,
    });
  } catch (error) {
    const { name, message } = error as Error;
    services.log({
      level: 'WARN',
      message: 'The webhook was not warned that rollback will soon be impossible',
      runId,
      failure: name,
      why: message,
    });
  }
}
