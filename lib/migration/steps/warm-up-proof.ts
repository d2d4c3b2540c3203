// What a first write to the new version proves of its hybrid search, slot by slot.
// Each of these can be missing while everything else looks as if it worked.
import * as v from 'valibot';
import { hasKeywords, KEYWORD_SLOT } from '../points.ts';
import { type MemoryBackend, testUserOf } from '../ports/memory-backend.ts';
import type { CollectionInfo, VectorStore } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { companionOf, ofTestUser } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { denseVectorOf } from './prerequisites.ts';

export const hybridProofSchema = v.object({
  dimensions: v.number(),
  points: v.number(),
  entities: v.number(),
  found: v.number(),
});

export type HybridProof = v.InferOutput<typeof hybridProofSchema>;

const payloadSchema = v.object({ data: v.string(), text_lemmatized: v.optional(v.string()) });

/** @throws Refusal naming what hybrid search would be without */
export async function proveHybrid(
  { vectors, preview }: Pick<Services, 'vectors' | 'preview'>,
  run: Run,
): Promise<HybridProof> {
  const { sourceCollection, targetCollection } = run.plan;
  const dimensions = await proveSlot(vectors, { source: sourceCollection, made: targetCollection });
  await provePoint(vectors, run);
  const companion = companionOf(run);
  if (!(await vectors.collectionExists(companion))) {
    throw new Refusal('RefusedNoLanguageModel', `The warm-up made no ${companion}.`);
  }
  await proveSlot(vectors, { source: sourceCollection, made: companion });
  return {
    dimensions,
    points: await vectors.count(targetCollection, ofTestUser(run)),
    entities: await vectors.count(companion, ofTestUser(run)),
    found: await proveSearch(preview, run),
  };
}

/** The layout alone, as it is before anything was written. */
export async function proveSlot(
  vectors: VectorStore,
  { source, made }: { source: string; made: string },
): Promise<number> {
  const old = denseVectorOf(paramsOf(await vectors.collectionInfo(source))?.vectors);
  const params = paramsOf(await vectors.collectionInfo(made));
  const fresh = denseVectorOf(params?.vectors);
  if (fresh.size === undefined || fresh.size !== old.size || fresh.distance !== old.distance) {
    const layouts = `${fresh.size} ${fresh.distance} where ${source} has ${old.size} ${old.distance}`;
    throw new Refusal('RefusedOtherVectors', `${made} has ${layouts}.`);
  }
  if (params?.sparse_vectors?.[KEYWORD_SLOT]?.modifier !== 'idf') {
    throw new Refusal('RefusedSemanticOnly', `${made} has no keyword slot with idf.`);
  }
  return fresh.size;
}

async function provePoint(vectors: VectorStore, run: Run): Promise<void> {
  const filter = ofTestUser(run);
  const { points } = await vectors.scroll(run.plan.targetCollection, { limit: 100, filter });
  const without = points.filter(({ vector }) => !hasKeywords(vector));
  if (points.length === 0 || without.length > 0) {
    const missing = `${without.length} of ${points.length} points of the warm-up`;
    throw new Refusal('RefusedSemanticOnly', `${missing} have no keyword vector.`);
  }
  const texts = points.map(({ payload }) => v.parse(payloadSchema, JSON.parse(payload)));
  if (texts.every(({ data, text_lemmatized = data }) => text_lemmatized === data)) {
    throw new Refusal('RefusedNoLanguageModel', 'The words of the warm-up have no base form.');
  }
}

async function proveSearch(preview: MemoryBackend | undefined, { runId }: Run): Promise<number> {
  const found =
    (await preview?.search(
      testUserOf(runId),
      'Whom do I know, where do they live, and what do they love?',
    )) ?? 0;
  if (found > 0) return found;
  throw new Refusal(
    'RefusedNewVersion',
    'The new version does not find what it has just remembered.',
  );
}

function paramsOf(info: CollectionInfo | undefined) {
  return info?.config.params;
}
