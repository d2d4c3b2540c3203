// The end of a cutover: from now on the days are counted for which a rollback is possible.

import { readManifest } from '../proof/backup-manifest.ts';
import { DAY_MS } from '../runs/durations.ts';
import { storeReport } from '../runs/reports.ts';
import { builtCollectionsOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { Outcome, StepContext, StepRequest } from '../runs/step.ts';
import { partsOf } from '../snapshots.ts';
import { filesOf } from './graph-backup.ts';
import { tidyUp } from './tidy-up.ts';

export async function goLive(
  context: StepContext,
  lateWrites: Readonly<Record<string, string | number>>,
): Promise<Outcome> {
  const { services, run, lease } = context;
  const liveAt = services.clock().getTime();
  const retainUntil = liveAt + run.plan.retentionDays * DAY_MS;
  const facts = { liveAt, retainUntil, ...lateWrites };
  const evidence = await storeReport(services, {
    lease,
    name: 'cutover-report',
    content: { runId: run.runId, plan: run.plan, ...facts },
    facts,
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
async function removeBuilt({ services, run, renew }: StepContext): Promise<void> {
  const live = liveCollectionsOf(run);
  for (const name of builtCollectionsOf(run)) {
    if (live.includes(name)) continue;
    await renew();
    await services.vectors.deleteCollection(name);
  }
}

/** What a rollback needs, and the reports up to now, cannot be deleted before that day. */
export async function retainBackup(
  { services, run }: Pick<StepRequest, 'services' | 'run'>,
  until: Date,
): Promise<void> {
  const { snapshot, counts, graph } = await readManifest(services, run);
  const reports = Object.values(run.evidence).map(({ artifact }) => artifact);
  const kept = [...partsOf(snapshot), ...filesOf(graph), counts.artifact];
  for (const key of [...kept, ...reports]) await services.artifacts.retain(key, until);
}
