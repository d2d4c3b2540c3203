// Takes snapshots of the filled collection and its companion and uploads them under the names that the plan asks for: the
// store has no rename. The setting is changed only once both are proved.
import { untilIndexed } from '../configuration.ts';
import { holdSame } from '../fate.ts';
import { assertFree, restoreSnapshot } from '../kept-snapshot.ts';
import { Refusal } from '../refusals.ts';
import type { Journal } from '../runs/journal.ts';
import type { Run } from '../runs/run.ts';
import { builtCollectionsOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { Approach, StepContext } from '../runs/step.ts';
import { scan } from '../scan.ts';
import { withSnapshot } from '../snapshots.ts';
import { removeCollections } from './clean-up.ts';
import { proveSlot } from './new-version.ts';

interface Passage {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** Both names have to be free, until the run has begun to upload. @throws Refusal */
export async function assertNamesFree({ services, run }: Pick<Approach, 'services' | 'run'>) {
  if (run.hasUploaded) return;
  for (const { to } of listPassages(run)) await assertFree(services.vectors, to);
}

/**
 * Uploads the built collection and its companion, where the plan asks for it.
 * @throws Refusal; an upload that differs from its source is removed before
 */
export async function uploadSwap(context: StepContext, journal: Journal): Promise<void> {
  const { run, note } = context;
  const passages = listPassages(run);
  if (passages.length > 0 && !run.hasUploaded) {
    await assertNamesFree(context);
    // From here on, collections of these names are the run's own.
    await note({ hasUploaded: true });
  }
  for (const passage of passages) {
    await journal.part(passage.to, (stages) => uploadOne(context, stages, passage));
  }
}

async function uploadOne(
  context: StepContext,
  journal: Journal,
  { from, to, label }: Passage,
): Promise<void> {
  await withSnapshot(context, journal, { collection: from, label }, async (kept) => {
    await restoreSnapshot(context, journal, { name: to, kept });
    await journal.poll('indexed', () => untilIndexed(context, to));
    await journal.once('same', () => assertSame(context, { from, to }));
    await journal.once('slot-proved', () =>
      proveSlot(context.services.vectors, { source: from, made: to }),
    );
  });
}

function listPassages(run: Run): Passage[] {
  if (run.plan.uploadAs === undefined) return [];
  const [target, companion] = builtCollectionsOf(run);
  const [live, beside] = liveCollectionsOf(run);
  return [
    { from: target, to: live, label: 'snapshot-of-target' },
    { from: companion, to: beside, label: 'snapshot-of-companion' },
  ];
}

async function assertSame(
  context: StepContext,
  { from, to }: Pick<Passage, 'from' | 'to'>,
): Promise<void> {
  const { vectors: store } = context.services;
  const { contents: made } = await scan({ store, collection: to });
  const { contents: meant } = await scan({ store, collection: from });
  if (holdSame(made, meant)) return;
  await removeCollections(context, [to]);
  throw new Refusal('RefusedSnapshot', `What was uploaded as ${to} is not what ${from} is.`);
}
