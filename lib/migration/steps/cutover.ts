// Switches to the new version in one maintenance window, and protects what a rollback needs.
import { assertFits, forecastWindow, measureParts } from '../forecast.ts';
import { APPROVED_EVIDENCE } from '../phases.ts';
import { collectFacts, type Facts } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import { type Run, windowOf } from '../runs/run.ts';
import { builtCollectionsOf, liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { removeCollections, tidyUp } from './clean-up.ts';
import { assertPlannedVersion } from './deployed-version.ts';
import { rollback } from './rollback.ts';
import { switchForward } from './switch.ts';
import { assertReady, retainBackup } from './switch-forward.ts';

export const cutover: Step = {
  command: 'cutover',
  forecast: async (request) => {
    await assertReady(request);
    const { sourceCollection, targetCollection, windowMinutes } = request.run.plan;
    const live = liveCollectionOf(request.run);
    return {
      windowMinutes,
      asks: 'the webhook or a person to stop all writes',
      ...(live === targetCollection ? {} : { uploads: { from: targetCollection, to: live } }),
      setting: { from: sourceCollection, to: live },
    };
  },
  endsWithWindow: true,
  rollbackStep: rollback,
  work: async (context) => {
    await context.begin(() => openWindow(context));
    return await goLive(context, await switchForward(context));
  },
};

async function openWindow(context: StepContext): Promise<Pick<Run, 'window'>> {
  const { services, run, input } = context;
  const maxRate = await services.runs.maxRate(run.runId);
  assertFits(forecastWindow(run, maxRate), run.plan.windowMinutes);
  await assertReady(context);
  await assertPlannedVersion(services, run);
  const deadlineAt = services.clock().getTime() + run.plan.windowMinutes * 60_000;
  const { [APPROVED_EVIDENCE]: report } = run.evidence;
  return {
    window: { deadlineAt, approvedBy: input.approvedBy, approvedReport: report?.digest },
  };
}

async function goLive(context: StepContext, lastFacts: Facts): Promise<Outcome> {
  const { services, run, workedMs } = context;
  const { recorded: journal } = context.stages;
  const liveAt = services.clock().getTime();
  const retainUntil = liveAt + run.plan.retentionDays * DAY_MS;
  const evidence = await storeReport(context, 'cutover-report', {
    facts: { liveAt, retainUntil, ...collectFacts(journal), ...lastFacts },
    details: { plan: run.plan },
  });
  // `prepareSwitch` protected the backup and the earlier reports for a period that began before the switch; it is extended here.
  await tidyUp(context, 'Protect the backup and the reports from deletion by hand', async () => {
    await retainBackup(context, new Date(retainUntil));
    await services.artifacts.retain(evidence.artifact, new Date(retainUntil));
  });
  const message = `Remove ${run.plan.targetCollection} and its companion by hand: they were uploaded under another name`;
  await tidyUp(context, message, () => removeBuilt(context));
  const deploySeconds = (workedMs() - (journal.passed.uploaded?.workedMs ?? 0)) / 1_000;
  const took = { ...measureParts(journal), deploy: deploySeconds };
  return { evidence, changes: { window: { ...windowOf(run), retainUntil } }, took };
}

// After an upload under another name, the built collection is an unused second copy.
async function removeBuilt(context: StepContext): Promise<void> {
  const { run } = context;
  await removeCollections(context, builtCollectionsOf(run), { except: liveCollectionsOf(run) });
}
