// Takes snapshots of the filled collection and its companion and uploads them under the names that the plan asks for: the
// store has no rename. The setting is changed only once both are proved.
import * as v from 'valibot';
import { untilIndexed } from '../configuration.ts';
import { holdSame } from '../fate.ts';
import { assertFree, restoreSnapshot, restoringSchema } from '../kept-snapshot.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { builtCollectionsOf, liveCollectionsOf } from '../runs/run-names.ts';
import { isWaiting, type Stage, within } from '../runs/stages.ts';
import type { Approach, StepContext, Waiting } from '../runs/step.ts';
import { scan } from '../scan.ts';
import { removeSnapshot, takeSnapshot, takeSnapshotStages, takingSchema } from '../snapshots.ts';
import { removeCollections } from './clean-up.ts';
import { proveSlot } from './new-version.ts';

const uploadSchema = v.object({
  taking: v.optional(takingSchema, {}),
  restoring: v.optional(restoringSchema, {}),
  isProved: v.optional(v.boolean(), false),
});

/** State of each upload, by the new name of the collection */
export const uploadsSchema = v.record(v.string(), uploadSchema);

export type Uploads = v.InferOutput<typeof uploadsSchema>;

type Upload = v.InferOutput<typeof uploadSchema>;

const NOTHING: Upload = v.parse(uploadSchema, {});

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
 * Where the plan asks for it; done already, otherwise.
 * @returns what is waited for; undefined when all is uploaded and proved
 * @throws Refusal, and what was half-made is removed
 */
export async function uploadSwap(
  context: StepContext,
  { from, save }: { readonly from: Uploads; readonly save: (uploads: Uploads) => Promise<unknown> },
): Promise<Waiting | undefined> {
  const { run, note } = context;
  const passages = listPassages(run);
  if (passages.length > 0 && !run.hasUploaded) {
    await assertNamesFree(context);
    // From here on, collections of these names are the run's own.
    await note({ hasUploaded: true });
  }
  let uploads = from;
  for (const passage of passages) {
    const end = await takeSnapshotStages(context, passage.from, {
      stages: listStages(passage),
      from: uploads[passage.to] ?? NOTHING,
      start: NOTHING,
      save: async (upload) => {
        uploads = { ...uploads, [passage.to]: upload };
        await save(uploads);
      },
    });
    if (isWaiting(end)) return end;
  }
  return undefined;
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

function listStages(passage: Passage): readonly Stage<Upload>[] {
  const { from, to, label } = passage;
  return [
    within('taking', () => takeSnapshot({ collection: from, label })),
    within('restoring', ({ taking }) => restoreSnapshot(to, taking.kept)),
    {
      isDone: ({ isProved }) => isProved,
      advance: async (context, { taking }) => {
        const { vectors } = context.services;
        const indexing = await untilIndexed(context, to);
        if (indexing) return indexing;
        await assertSame(context, passage);
        await proveSlot(vectors, { source: from, made: to });
        await context.renew();
        await removeSnapshot(vectors, from, taking);
        return { isProved: true };
      },
    },
  ];
}

async function assertSame(context: StepContext, { from, to }: Passage): Promise<void> {
  const { vectors: store } = context.services;
  const { contents: made } = await scan({ store, collection: to });
  const { contents: meant } = await scan({ store, collection: from });
  if (holdSame(made, meant)) return;
  await removeCollections(context, [to]);
  throw new Refusal('RefusedSnapshot', `What was uploaded as ${to} is not what ${from} is.`);
}
