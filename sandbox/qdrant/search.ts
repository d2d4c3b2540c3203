// Brute-force search: by a dense vector or by IDF-weighted keywords, optionally filtered.
import type { Schemas } from '@qdrant/js-client-rest';
import type { SparseVector } from './bm25.ts';
import { type Call, jsonBody, readParameter } from './call.ts';
import type { Collection } from './collection.ts';
import { compileFilter } from './filters.ts';
import { toRecord } from './point-reads.ts';
import type { StoredPoint } from './point-table.ts';
import { noVector } from './refusal.ts';
import type { SandboxState } from './state.ts';
import { readSparse, readVectors } from './vectors.ts';

type Scorer = (point: StoredPoint) => number | undefined;

type Request = Schemas['QueryRequest'];

interface Hits {
  readonly points: readonly object[];
}

export function createSearch({ registry, version }: SandboxState) {
  function query(call: Call): Hits {
    return search(call, jsonBody<Request>(call));
  }

  function queryBatch(call: Call): Hits[] {
    const { searches } = jsonBody<Schemas['QueryRequestBatch']>(call);
    return searches.map((request) => search(call, request));
  }

  function search(call: Call, request: Request): Hits {
    const collection = registry.get(readParameter(call, 'collection'));
    const { using, limit, filter, score_threshold } = request;
    const vector = JSON.stringify(unwrapVector(request.query));
    const layout = { version, params: collection.params };
    const scorePoint = using
      ? scoreByKeywords(collection, using, readSparse(using, vector, layout))
      : scoreByVector(readVectors(vector, layout).dense);
    const hits = collection.points
      .all()
      .filter(compileFilter(filter as Schemas['Filter']))
      .map((point) => ({ point, score: scorePoint(point) ?? Number.NEGATIVE_INFINITY }))
      .filter((hit) => hit.score > (score_threshold ?? Number.NEGATIVE_INFINITY));
    const best = [...hits].sort((left, right) => right.score - left.score).slice(0, limit ?? 10);
    return {
      points: best.map(({ point, score }) => {
        const { version = 0 } = point;
        return { ...toRecord(point, request), version, score };
      }),
    };
  }

  return { query, queryBatch };
}

// Unwraps the vector: the official Python client wraps it in `nearest`, other clients send it bare.
function unwrapVector(query: Request['query']): unknown {
  const isWrapped = typeof query === 'object' && query !== null && 'nearest' in query;
  return isWrapped ? query.nearest : query;
}

function scoreByVector(query: Float32Array | undefined): Scorer {
  if (!query) throw noVector('');
  return ({ dense }) => dense?.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0);
}

function scoreByKeywords(collection: Collection, slot: string, query: SparseVector): Scorer {
  const weights = toWeights(query);
  const total = collection.points.size();
  const documentCounts = new Map<number, number>();
  for (const { sparse } of collection.points.all()) {
    for (const id of sparse?.get(slot)?.indices ?? []) {
      if (weights.has(id)) documentCounts.set(id, (documentCounts.get(id) ?? 0) + 1);
    }
  }
  const usesIdf = collection.params.sparse_vectors?.[slot]?.modifier === 'idf';
  const idf = (id: number) => (usesIdf ? inverseFrequency(total, documentCounts.get(id) ?? 0) : 1);
  const factors = new Map([...weights].map(([id, weight]) => [id, weight * idf(id)]));
  // Builds no lists: a search scores every point of a collection.
  return ({ sparse }) => {
    const { indices = [], values = [] } = sparse?.get(slot) ?? {};
    let score: number | undefined;
    for (let index = 0; index < indices.length; index += 1) {
      const factor = factors.get(indices[index] ?? 0);
      if (factor !== undefined) score = (score ?? 0) + factor * (values[index] ?? 0);
    }
    return score;
  };
}

function toWeights({ indices, values }: SparseVector): Map<number, number> {
  return new Map(Array.from(indices, (id, index) => [id, values[index] ?? 0]));
}

function inverseFrequency(total: number, documentCount: number): number {
  return Math.log((total - documentCount + 0.5) / (documentCount + 0.5) + 1);
}
