// Points over Qdrant's REST. Their texts pass through unread, in both directions.
import type { Schemas } from '@qdrant/js-client-rest';
import { KEYWORD_MODEL } from '../../copy/keyword-slot.ts';
import { verbatim } from '../../json/json-text.ts';
import type {
  FacetRequest,
  Filter,
  Point,
  PointId,
  PointParts,
  PointSelection,
  ScrollPage,
  ScrollRequest,
  VectorPoints,
  VectorUpdate,
} from '../../ports/vector-store.ts';
import {
  VectorStoreRefusedError,
  VectorStoreUnavailableError,
} from '../../ports/vector-store-errors.ts';
import { pathOf } from './paths.ts';
import { readPoints, readScrollPage } from './read-points.ts';
import type { Call, Transport } from './transport.ts';
import { completed } from './write-result.ts';

export function createQdrantPoints({ text, result }: Transport): VectorPoints {
  async function count(collection: string, filter?: Filter): Promise<number> {
    const body: Schemas['CountRequest'] = { exact: true, ...(filter ? { filter } : {}) };
    const call = post(pathOf(collection, '/points/count'), body);
    return (await result<Schemas['CountResult']>(call)).count;
  }

  async function facet(collection: string, { key, limit, filter }: FacetRequest) {
    const body: Schemas['FacetRequest'] = { key, limit, exact: true, ...(filter && { filter }) };
    return (await result<Schemas['FacetResponse']>(post(pathOf(collection, '/facet'), body))).hits;
  }

  async function scroll(collection: string, request: ScrollRequest): Promise<ScrollPage> {
    const call = post(pathOf(collection, '/points/scroll'), toScrollBody(request));
    return readScrollPage(await text(call));
  }

  async function retrieve(collection: string, ids: readonly PointId[], parts: PointParts = {}) {
    const body: Schemas['PointRequest'] = { ids: ids.map((id) => verbatim(id)), ...wanted(parts) };
    return readPoints(await text(post(pathOf(collection, '/points'), body)));
  }

  async function upsert(
    collection: string,
    points: readonly Point[],
    update_mode: Schemas['UpdateMode'],
  ) {
    const body: Schemas['PointsList'] = { points: points.map(toPointStruct), update_mode };
    await write({ method: 'PUT', path: pathOf(collection, '/points?wait=true'), body });
  }

  async function updateVectors(collection: string, updates: readonly VectorUpdate[]) {
    const points = updates.map(({ id, vector }) => ({ id: verbatim(id), vector }));
    const body: Schemas['UpdateVectors'] = { points };
    await write({ method: 'PUT', path: pathOf(collection, '/points/vectors?wait=true'), body });
  }

  async function deletePoints(collection: string, selection: PointSelection): Promise<void> {
    const body: Schemas['PointsSelector'] =
      'ids' in selection
        ? { points: selection.ids.map((id) => verbatim(id)) }
        : { filter: selection.filter };
    await write(post(pathOf(collection, '/points/delete?wait=true'), body));
  }

  // Without the model the answer is a 400, or a 500 of an inference service that was never started.
  async function encodesKeywords(collection: string, slot: string): Promise<boolean> {
    const query: Schemas['Document'] = { text: 'probe', model: KEYWORD_MODEL };
    const body: Schemas['QueryRequest'] = { query, using: slot, limit: 1 };
    try {
      await result({ ...post(pathOf(collection, '/points/query'), body), again: false });
      return true;
    } catch (error) {
      if (error instanceof VectorStoreRefusedError) return false;
      if (error instanceof VectorStoreUnavailableError && /inference/i.test(error.message)) {
        return false;
      }
      throw error;
    }
  }

  async function write(call: Call): Promise<void> {
    completed(call, await result<Schemas['UpdateResult']>(call));
  }

  return { count, facet, scroll, retrieve, upsert, updateVectors, deletePoints, encodesKeywords };
}

function post(path: string, body: unknown) {
  return { method: 'POST', path, body } as const;
}

function toScrollBody(request: ScrollRequest): Schemas['ScrollRequest'] {
  const { limit, offset, filter } = request;
  return {
    limit,
    ...wanted(request),
    ...(filter ? { filter } : {}),
    ...(offset ? { offset: verbatim(offset) } : {}),
  };
}

function wanted({ payload = true, vector = true }: PointParts) {
  return {
    with_payload: typeof payload === 'boolean' ? payload : [...payload],
    with_vector: typeof vector === 'boolean' ? vector : [...vector],
  };
}

function toPointStruct({ id, vector, payload }: Point): Schemas['PointStruct'] {
  return { id: verbatim(id), vector: verbatim(vector), payload: verbatim(payload) };
}
