// Creates the new collection and its companion. If the new version can be reached, its first write creates both, and proves that
// hybrid search has everything it needs. Otherwise the run creates them itself, and the cutover proves them.
import { copyConfiguration, readFixedSettings } from '../configuration.ts';
import { KEYWORD_SLOT } from '../points.ts';
import { type CollectionSettings, readDenseVector } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import { NOTHING_RECORDED } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import type { Reference } from '../runs/run.ts';
import {
  builtCollectionsOf,
  collectionsOf,
  filterTestUser,
  testUserOf,
} from '../runs/run-names.ts';
import type { Step, StepContext } from '../runs/step.ts';
import { removeCollections, removeWarmUp } from './clean-up.ts';
import { addLearnedSlot } from './in-place.ts';
import { assertSourceFilled } from './last-copies.ts';
import { listPremade, proveEmbeddings, proveHybrid, TEST_MEMORIES } from './new-version.ts';

const SCOPE_KEYS = ['user_id', 'agent_id', 'run_id', 'actor_id'];

export const rebuild: Step = {
  command: 'rebuild',
  forecast: async ({ services, run }) => ({
    creates: builtCollectionsOf(run),
    by: services.preview ? 'the first write of the new version' : 'explicit settings',
  }),
  work: async (context) => {
    const { stages, signal } = context;
    try {
      return { evidence: await build(context) };
    } catch (error) {
      // The operator may correct the cause, so the next invocation creates and checks the collections again.
      if (error instanceof Refusal && !signal.aborted) await stages.rewrite(NOTHING_RECORDED);
      throw error;
    }
  },
};

/** @returns the reference to the proof of the rebuild */
async function build(context: StepContext): Promise<Reference> {
  const { services, run, stages } = context;
  const { sourceCollection, targetCollection, inPlace } = run.plan;
  await stages.once('earlier-removed', removeEarlierCollections);
  const createdBy = await stages.once('made', createCollections);
  await stages.once('configured', () =>
    copyConfiguration(services.vectors, { from: sourceCollection, to: targetCollection }),
  );
  const isHybridProved = createdBy === 'by-new-version';
  // The proof cannot be repeated: it reads the first write, which is removed afterwards.
  if (isHybridProved) await stages.once('hybrid-proved', () => proveHybrid(services, run));
  const embeddings = await stages.once('embeddings', () =>
    checkEmbeddings(context, isHybridProved),
  );
  const deletionsUndone = inPlace ? await stages.once('slot-added', addLearnedSlot) : 0;
  return await storeReport(context, 'rebuild-proof', {
    facts: {
      made: createdBy,
      isHybridProved,
      embeddings,
      ...(deletionsUndone > 0 && { deletionsUndone }),
    },
  });
}

async function checkEmbeddings(context: StepContext, isHybridProved: boolean) {
  const { services, run } = context;
  const { sourceCollection: known, targetCollection: collection } = run.plan;
  const { preview: backend } = services;
  const collections = builtCollectionsOf(run);
  await removeWarmUp(context, collections);
  const embeddings =
    isHybridProved && backend
      ? await proveEmbeddings(context, { backend, known, collection })
      : 'unverified';
  await removeWarmUp(context, collections);
  return embeddings;
}

// Collections that the new version created when it started are kept: it would not create them again.
async function removeEarlierCollections(context: StepContext): Promise<void> {
  const { services, run } = context;
  if (services.preview) await removeWarmUp(context, builtCollectionsOf(run));
  // An earlier copy may have filled the new collection: it must not hold the last copies.
  await assertSourceFilled(context);
  const except = await listPremade(services, run);
  await removeCollections(context, collectionsOf(run), { except });
}

async function createCollections(context: StepContext): Promise<'by-new-version' | 'explicitly'> {
  const { services, run, renewLease } = context;
  const { preview, vectors } = services;
  if (!preview) {
    await createExplicitly(context);
    return 'explicitly';
  }
  await preview.health();
  const { targetCollection } = run.plan;
  for (const sentence of TEST_MEMORIES) {
    await renewLease();
    await preview.addMemory(testUserOf(run.runId), sentence);
    const exists = await vectors.collectionExists(targetCollection);
    if (exists && (await vectors.count(targetCollection, filterTestUser(run))) > 0) {
      return 'by-new-version';
    }
  }
  throw new Refusal(
    'RefusedNewVersion',
    `After ${TEST_MEMORIES.length} writes to the new version there is no memory in ${targetCollection}.`,
  );
}

async function createExplicitly({ services, run, renewLease }: StepContext): Promise<void> {
  const { vectors } = services;
  const { plan } = run;
  const info = await vectors.readCollectionInfo(plan.sourceCollection);
  const { size } = readDenseVector(info);
  if (!info || !size) {
    throw new Refusal('RefusedByService', `${plan.sourceCollection} has no unnamed vector.`);
  }
  const { shard_number, datatype } = readFixedSettings(info);
  const settings: CollectionSettings = {
    vectors: { size, distance: 'Cosine', on_disk: false, datatype },
    shard_number,
    sparse_vectors: { [KEYWORD_SLOT]: { modifier: 'idf' } },
  };
  for (const name of builtCollectionsOf(run)) {
    await renewLease();
    if (!(await vectors.collectionExists(name))) await vectors.createCollection(name, settings);
    for (const field_name of SCOPE_KEYS) {
      await vectors.createPayloadIndex(name, { field_name, field_schema: 'keyword' });
    }
  }
}
