// Points over Qdrant's REST. Their JSON passes through unparsed in both directions.
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
  SearchAnswer,
  SearchRequest,
  VectorUpdate,
} from '../../ports/vector-store.ts';
import { isRefusal, isRetryableFailure } from '../../refusals.ts';
import { pathOf, type Transport } from './transport.ts';

export function createQdrantPoints({ text, result, write }: Transport) {
  /** Counts exactly. */
  async function count(collection: string, filter?: Filter): Promise<number> {
    const body: Schemas['CountRequest'] = { exact: true, ...(filter && { filter }) };
    const call = post(pathOf(collection, '/points/count'), body);
    return (await result<Schemas['CountResult']>(call)).count;
  }

  /** Counts the points with each value of an indexed key, for at most `limit` values. @throws Refusal without the index */
  async function facet(collection: string, key: string, limit: number, filter: Filter = {}) {
    const body: Schemas['FacetRequest'] = { key, limit, exact: true, filter };
    const call = post(pathOf(collection, '/facet'), body);
    return (await result<Schemas['FacetResponse']>(call)).hits;
  }

  /** Reads a page of points in order of id. A point that is inserted before the cursor meanwhile is missed. */
  async function scroll(collection: string, request: ScrollRequest): Promise<ScrollPage> {
    const { limit, offset, filter } = request;
    const body: Schemas['ScrollRequest'] = {
      limit,
      ...selectParts(request),
      ...(filter && { filter }),
      ...(offset && { offset: verbatim(offset) }),
    };
    const answer = await text(post(pathOf(collection, '/points/scroll'), body));
    return readAnswer(answer, (scanner) => readPage(scanner, readPoint)).result;
  }

  /** Unknown ids are left out. */
  async function retrieve(collection: string, ids: readonly PointId[], parts: PointParts = {}) {
    const body: Schemas['PointRequest'] = {
      ids: ids.map((id) => verbatim(id)),
      ...selectParts(parts),
    };
    const answer = await text(post(pathOf(collection, '/points'), body));
    return readAnswer(answer, (scanner) => scanner.list(() => readPoint(scanner))).result;
  }

  /**
   * The write is durable when this returns. `insert_only` (1.17 and later) never changes an existing point.
   * @param update_filter existing points that it does not match remain unchanged
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
    await write({ method: 'PUT', path: pathOf(collection, '/points?wait=true'), body });
  }

  /** Leaves other vectors and payloads unchanged. If a point was deleted, the store answers 404 but updates the others. */
  async function updateVectors(
    collection: string,
    updates: readonly VectorUpdate[],
  ): Promise<void> {
    const points = updates.map(({ id, vector }) => ({
      id: verbatim(id),
      vector: verbatim(vector),
    }));
    // One operation: an operation for each point takes the server more than ten times as long.
    const should = updates.map(({ id, filter }) => ({
      must: [{ has_id: [verbatim(id)] }, ...(filter ? [filter] : [])],
    }));
    const body: Schemas['UpdateVectors'] = { points, update_filter: { should } };
    await write({ method: 'PUT', path: pathOf(collection, '/points/vectors?wait=true'), body });
  }

  /** Returns the number of an operation that follows every write so far: the deletion of a point that does not exist. */
  async function lastOperation(collection: string): Promise<number> {
    const body: Schemas['PointsSelector'] = { points: [randomUUID()] };
    const call = post(pathOf(collection, '/points/delete?wait=true'), body);
    const { operation_id } = await result<Schemas['UpdateResult']>(call);
    return operation_id ?? 0;
  }

  async function deletePoints(collection: string, selection: PointSelection): Promise<void> {
    const body: Schemas['PointsSelector'] =
      'ids' in selection
        ? { points: selection.ids.map((id) => verbatim(id)) }
        : { filter: selection.filter };
    await write(post(pathOf(collection, '/points/delete?wait=true'), body));
  }

  /** True if the store itself can make a keyword vector of a text for that slot. */
  // A store without the model answers 400, or the 500 of an inference service that was never started.
  async function encodesKeywords(collection: string, slot: string): Promise<boolean> {
    const query: Schemas['Document'] = { text: 'probe', model: KEYWORD_MODEL };
    const body: Schemas['QueryRequest'] = { query, using: slot, limit: 1 };
    try {
      await result({ ...post(pathOf(collection, '/points/query'), body), isRetried: false });
      return true;
    } catch (error) {
      if (isRefusal(error, 'RefusedByService')) return false;
      if (isRetryableFailure(error) && /inference/i.test(error.message)) return false;
      throw error;
    }
  }

  /** Finds the points nearest to a vector, or to the keywords that the store makes from a text; best first. */
  async function search(collection: string, request: SearchRequest): Promise<SearchAnswer> {
    const { nearest, limit, filter, isExact } = request;
    const body: Schemas['QueryRequest'] = {
      ...toQuery(nearest),
      ...(filter && { filter }),
      ...(isExact && { params: { exact: true } }),
      limit,
      with_payload: false,
    };
    const answer = await text(post(pathOf(collection, '/points/query'), body));
    const { result, milliseconds } = readAnswer(answer, (scanner) => readPage(scanner, readHit));
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
    lastOperation,
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

function readAnswer<Result>(answer: string, read: (scanner: JsonScanner) => Result) {
  const scanner = scanJson(answer);
  let result: Result | undefined;
  let seconds = 0;
  for (const part of scanner.members<Envelope>()) {
    if (part === 'result') result = read(scanner);
    else if (part === 'time') seconds = Number(scanner.text());
  }
  if (result === undefined) throw new JsonScanError('The answer has no result');
  return { result, milliseconds: seconds * 1_000 };
}

function readPage<Item>(scanner: JsonScanner, read: (scanner: JsonScanner) => Item) {
  let points: Item[] | undefined;
  let nextOffset: PointId | null = null;
  for (const member of scanner.members<Schemas['ScrollResult']>()) {
    if (member === 'points') points = scanner.list(() => read(scanner));
    if (member === 'next_page_offset') nextOffset = idOrNull(scanner.text());
  }
  if (points === undefined) throw new JsonScanError('The answer has no points');
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

function idOrNull(text: string): PointId | null {
  return text === 'null' ? null : asJsonText(text);
}
