// The end of a cutover: what the way back rests on is kept, and the days of it are counted from now on.

import { readManifest } from '../proof/backup-manifest.ts';
import { DAY_MS } from '../runs/durations.ts';
import { storeReport } from '../runs/reports.ts';
import { builtCollectionsOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { Outcome, StepContext, Turn } from '../runs/step.ts';
import { filesOf } from './graph-backup.ts';
import { tidyUp } from './tidy-up.ts';

export async function goLive(turn: Turn): Promise<Outcome> {
  const { services, run, lease } = turn;
  const liveAt = services.clock().getTime();
  const retainUntil = liveAt + run.plan.retentionDays * DAY_MS;
  await retainArtifacts({ services, run }, new Date(retainUntil));
  const facts = { liveAt, retainUntil };
  const evidence = await storeReport(services, {
    lease,
    name: 'cutover-report',
    content: { runId: run.runId, plan: run.plan, ...facts },
    facts,
  });
  const message = `${run.plan.targetCollection} or its companion, uploaded by now, is to be removed by hand`;
  await tidyUp(turn, message, () => removeBuilt(turn));
  return { done: true, evidence, changes: { liveAt, retainUntil } };
}

// Where it was uploaded under another name, what it was uploaded from is a second copy that nobody works on.
async function removeBuilt({ services, run, renew }: Turn): Promise<void> {
  const live = liveCollectionsOf(run);
  for (const name of builtCollectionsOf(run)) {
    if (live.includes(name)) continue;
    await renew();
    await services.vectors.deleteCollection(name);
  }
}

async function retainArtifacts(
  { services, run }: Pick<StepContext, 'services' | 'run'>,
  until: Date,
): Promise<void> {
  const { parts, counts, graph } = await readManifest(services, run);
  const reports = Object.values(run.evidence).map(({ artifact }) => artifact);
  const kept = [...parts.map(({ artifact }) => artifact), ...filesOf(graph), counts.artifact];
  for (const key of [...kept, ...reports]) await services.artifacts.retain(key, until);
}
