// Points over Qdrant's REST API. Their JSON passes through unparsed in both directions.
import { randomUUID } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import { JsonScanError, type JsonScanner, scanJson } from '../../json/json-scanner.ts';
import { asJsonText, verbatim } from '../../json/json-text.ts';
import { KEYWORD_MODEL } from '../../points.ts';
import type {
  Filter,
  Hit,
  Point,
  PointId,
  PointParts,
  PointSelection,
  ScrolledPoint,
  ScrollPage,
  ScrollRequest,
  SearchRequest,
  SearchResult,
  VectorUpdate,
} from '../../ports/vector-store.ts';
import { isRefusal, isRetryableFailure } from '../../refusals.ts';
import { collectionPath, type Transport } from './transport.ts';

export function createQdrantPoints({ fetchText, fetchResult, write }: Transport) {
  /** Counts points exactly, not by an estimate. */
  async function count(collection: string, filter?: Filter): Promise<number> {
    const body: Schemas['CountRequest'] = { exact: true, ...(filter && { filter }) };
    const call = post(collectionPath(collection, '/points/count'), body);
    return (await fetchResult<Schemas['CountResult']>(call)).count;
  }

  /** Counts the points for each value of an indexed key, at most `limit` values. @throws Refusal if the key has no index */
  async function facet(collection: string, key: string, limit: number, filter: Filter = {}) {
    const body: Schemas['FacetRequest'] = { key, limit, exact: true, filter };
    const call = post(collectionPath(collection, '/facet'), body);
    return (await fetchResult<Schemas['FacetResponse']>(call)).hits;
  }

  /** Reads a page of points in order of id. Points that are inserted later with lower ids than the next page's are missed. */
  async function scroll(collection: string, request: ScrollRequest): Promise<ScrollPage> {
    const { limit, offset, filter } = request;
    const body: Schemas['ScrollRequest'] = {
      limit,
      ...selectParts(request),
      ...(filter && { filter }),
      ...(offset && { offset: verbatim(offset) }),
    };
    const response = await fetchText(post(collectionPath(collection, '/points/scroll'), body));
    return readEnvelope(response, (scanner) => readPage(scanner, readPoint)).result;
  }

  /** Omits ids that do not exist. */
  async function retrieve(collection: string, ids: readonly PointId[], parts: PointParts = {}) {
    const body: Schemas['PointRequest'] = {
      ids: ids.map((id) => verbatim(id)),
      ...selectParts(parts),
    };
    const response = await fetchText(post(collectionPath(collection, '/points'), body));
    return readEnvelope(response, (scanner) => scanner.list(() => readPoint(scanner))).result;
  }

  /**
   * The write is durable when this returns. `insert_only` (1.17 and later) never changes an existing point.
   * @param update_filter existing points that do not match the filter remain unchanged
   */
  async function upsert(
    collection: string,
    points: readonly Point[],
    update_mode: Schemas['UpdateMode'],
    update_filter?: Filter,
  ) {
    const body: Schemas['PointsList'] = {
      points: points.map(toPointStruct),
      update_mode,
      ...(update_filter && { update_filter }),
    };
    await write({ method: 'PUT', path: collectionPath(collection, '/points?wait=true'), body });
  }

  /** Leaves other vectors and all payloads unchanged. If a point does not exist, the store returns 404 but updates the others. */
  async function updateVectors(
    collection: string,
    updates: readonly VectorUpdate[],
  ): Promise<void> {
    const points = updates.map(({ id, vector }) => ({
      id: verbatim(id),
      vector: verbatim(vector),
    }));
    // One operation updates all points: with one operation per point, the server takes more than ten times as long.
    const should = updates.map(({ id, filter }) => ({
      must: [{ has_id: [verbatim(id)] }, ...(filter ? [filter] : [])],
    }));
    const body: Schemas['UpdateVectors'] = { points, update_filter: { should } };
    await write({
      method: 'PUT',
      path: collectionPath(collection, '/points/vectors?wait=true'),
      body,
    });
  }

  /** Gets an operation number above those of all earlier writes, by deleting a point that does not exist. */
  async function takeOperationNumber(collection: string): Promise<number> {
    const body: Schemas['PointsSelector'] = { points: [randomUUID()] };
    const call = post(collectionPath(collection, '/points/delete?wait=true'), body);
    const { operation_id } = await fetchResult<Schemas['UpdateResult']>(call);
    return operation_id ?? 0;
  }

  async function deletePoints(collection: string, selection: PointSelection): Promise<void> {
    const body: Schemas['PointsSelector'] =
      'ids' in selection
        ? { points: selection.ids.map((id) => verbatim(id)) }
        : { filter: selection.filter };
    await write(post(collectionPath(collection, '/points/delete?wait=true'), body));
  }

  /** True if the store itself can compute keyword vectors for the slot. */
  // A store without the model returns 400; a store whose inference service was never started returns 500.
  async function encodesKeywords(collection: string, slot: string): Promise<boolean> {
    const query: Schemas['Document'] = { text: 'probe', model: KEYWORD_MODEL };
    const body: Schemas['QueryRequest'] = { query, using: slot, limit: 1 };
    try {
      await fetchResult({
        ...post(collectionPath(collection, '/points/query'), body),
        isRetried: false,
      });
      return true;
    } catch (error) {
      if (isRefusal(error, 'RefusedByService')) return false;
      if (isRetryableFailure(error) && /inference/i.test(error.message)) return false;
      throw error;
    }
  }

  /** Finds the points nearest to a vector, or to keywords that the store extracts from a text; best first. */
  async function search(collection: string, request: SearchRequest): Promise<SearchResult> {
    const { nearest, limit, filter, isExact } = request;
    const body: Schemas['QueryRequest'] = {
      ...toQuery(nearest),
      ...(filter && { filter }),
      ...(isExact && { params: { exact: true } }),
      limit,
      with_payload: false,
    };
    const response = await fetchText(post(collectionPath(collection, '/points/query'), body));
    const { result, milliseconds } = readEnvelope(response, (scanner) =>
      readPage(scanner, readHit),
    );
    return { hits: result.points, milliseconds };
  }

  return {
    count,
    facet,
    scroll,
    retrieve,
    search,
    upsert,
    updateVectors,
    takeOperationNumber,
    deletePoints,
    encodesKeywords,
  };
}

function post(path: string, body: object) {
  return { method: 'POST', path, body } as const;
}

function toQuery(nearest: SearchRequest['nearest']) {
  if ('vector' in nearest) return { query: verbatim<number[]>(asJsonText(nearest.vector)) };
  const { slot: using } = nearest;
  if ('text' in nearest) {
    return { using, query: { text: verbatim(nearest.text), model: KEYWORD_MODEL } };
  }
  const { indices } = nearest;
  return { using, query: { indices: [...indices], values: indices.map(() => 1) } };
}

function selectParts({ payload = true, vector = true }: PointParts) {
  return {
    with_payload: typeof payload === 'boolean' ? payload : [...payload],
    with_vector: typeof vector === 'boolean' ? vector : [...vector],
  };
}

function toPointStruct({ id, vector, payload }: Point): Schemas['PointStruct'] {
  return { id: verbatim(id), vector: verbatim(vector), payload: verbatim(payload) };
}

// Points are cut out of a response without being parsed.
interface Envelope {
  readonly result: unknown;
  /** Seconds */
  readonly time: number;
}

function readEnvelope<Result>(response: string, read: (scanner: JsonScanner) => Result) {
  const scanner = scanJson(response);
  let result: Result | undefined;
  let seconds = 0;
  for (const part of scanner.members<Envelope>()) {
    if (part === 'result') result = read(scanner);
    else if (part === 'time') seconds = Number(scanner.text());
  }
  if (result === undefined) throw new JsonScanError('The response has no result');
  return { result, milliseconds: seconds * 1_000 };
}

function readPage<Item>(scanner: JsonScanner, read: (scanner: JsonScanner) => Item) {
  let points: Item[] | undefined;
  let nextOffset: PointId | null = null;
  for (const member of scanner.members<Schemas['ScrollResult']>()) {
    if (member === 'points') points = scanner.list(() => read(scanner));
    if (member === 'next_page_offset') nextOffset = parseOffset(scanner.text());
  }
  if (points === undefined) throw new JsonScanError('The response has no points');
  return { points, nextOffset };
}

function readHit(scanner: JsonScanner): Hit {
  const { id, score, version } = scanner.texts<Schemas['ScoredPoint']>();
  if (id === undefined || score === undefined) throw new JsonScanError('A hit has no id or score');
  return { id: asJsonText(id), score: Number(score), version: Number(version) };
}

function readPoint(scanner: JsonScanner): ScrolledPoint {
  const { id, vector, payload = 'null' } = scanner.texts<Schemas['Record']>();
  if (id === undefined) throw new JsonScanError('A point has no id');
  return {
    id: asJsonText(id),
    vector: vector === undefined || vector === 'null' ? undefined : asJsonText(vector),
    payload: asJsonText(payload),
  };
}

function parseOffset(text: string): PointId | null {
  return text === 'null' ? null : asJsonText(text);
}
