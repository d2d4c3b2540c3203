// Gives the filled collection and its companion the names in the plan. The store cannot rename collections, so their snapshots are
// uploaded under these names. The setting is changed only after both uploads are proved.
import { waitUntilIndexed } from '../configuration.ts';
import { assertFree, restoreSnapshot } from '../kept-snapshot.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { builtCollectionsOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import { withSnapshot } from '../snapshots.ts';
import { removeCollections } from './clean-up.ts';
import { haveSameMemories } from './comparison.ts';
import { proveSlot } from './new-version.ts';

interface Rename {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** Checks nothing once the run has begun to upload. @throws Refusal if another program has taken one of the names */
export async function assertNamesFree({ services, run }: Pick<StepRequest, 'services' | 'run'>) {
  if (run.hasUploaded) return;
  for (const { to } of listRenames(run)) await assertFree(services.vectors, to);
}

/**
 * Uploads the built collection and its companion, if the plan says so.
 * @throws Refusal if an upload differs from its source, after removing the upload
 */
export async function uploadSwap(context: StepContext): Promise<void> {
  const { run, updateRun, stages } = context;
  const renames = listRenames(run);
  if (renames.length > 0 && !run.hasUploaded) {
    await assertNamesFree(context);
    // From now on, collections of these names are the run's own.
    await updateRun({ hasUploaded: true });
  }
  for (const rename of renames) {
    await stages.once(rename.to, (context) => uploadCollection(context, rename));
  }
}

async function uploadCollection(context: StepContext, { from, to, label }: Rename): Promise<void> {
  const { stages } = context;
  await withSnapshot(context, { collection: from, label }, async (kept) => {
    await restoreSnapshot(context, { name: to, kept });
    await stages.once('indexed', () => waitUntilIndexed(context, to));
    await stages.once('same', () => assertSameContents(context, { from, to }));
    await stages.once('slot-proved', () =>
      proveSlot(context.services.vectors, { source: from, created: to }),
    );
  });
}

function listRenames(run: Run): Rename[] {
  if (run.plan.uploadAs === undefined) return [];
  const [target, companion] = builtCollectionsOf(run);
  const [live, liveCompanion] = liveCollectionsOf(run);
  return [
    { from: target, to: live, label: 'snapshot-of-target' },
    { from: companion, to: liveCompanion, label: 'snapshot-of-companion' },
  ];
}

async function assertSameContents(
  context: StepContext,
  { from, to }: Pick<Rename, 'from' | 'to'>,
): Promise<void> {
  if (await haveSameMemories(context, to, from)) return;
  await removeCollections(context, [to]);
  throw new Refusal('RefusedSnapshot', `The upload ${to} differs from ${from}.`);
}
