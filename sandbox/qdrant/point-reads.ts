// Handles the calls that read points: scroll, retrieve, count and facet. Points are sent as their original JSON text, not as
// parsed values.
import type { Schemas } from '@qdrant/js-client-rest';
import { scanJson } from '../../lib/migration/json/json-scanner.ts';
import { asJsonText, verbatim } from '../../lib/migration/json/json-text.ts';
import { type Call, jsonBody, readParameter } from './call.ts';
import { compileFilter } from './filters.ts';
import { formatPayload, readValues } from './payloads.ts';
import { toIdText, toPointKey } from './point-ids.ts';
import type { StoredPoint } from './point-table.ts';
import { badRequest, invalid, notFound } from './refusal.ts';
import type { SandboxState } from './state.ts';
import { formatVectors } from './vectors.ts';

/** Parts of a point that a response contains */
interface PointParts {
  readonly with_payload?: Schemas['QueryRequest']['with_payload'];
  readonly with_vector?: Schemas['QueryRequest']['with_vector'];
}

const DEFAULT_LIMIT = 10;

export function createPointReads({ registry }: SandboxState) {
  function scroll(call: Call): Schemas['ScrollResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const request = jsonBody<Schemas['ScrollRequest']>(call);
    const limit = request.limit ?? DEFAULT_LIMIT;
    if (limit < 1) throw invalid('limit', `value ${limit} invalid, must be 1 or larger`);
    if (request.order_by) throw badRequest('the sandbox scrolls in the order of ids only');
    const passes = compileFilter(request.filter as Schemas['Filter']);
    const matching = collection.points
      .from(readOffset(call))
      .filter(passes)
      .take(limit + 1);
    const page = [...matching];
    const next = page.length > limit ? page.pop() : undefined;
    return {
      points: page.map((point) => toRecord(point, { with_payload: true, ...request })),
      next_page_offset: next ? verbatimId(next) : null,
    };
  }

  function retrieve(call: Call): Schemas['Record'][] {
    const { points } = registry.get(readParameter(call, 'collection'));
    const request = jsonBody<Schemas['PointRequest']>(call);
    return readIdTexts(call, 'ids')
      .map((id) => points.get(toPointKey(id)))
      .filter((point) => point !== undefined)
      .map((point) => toRecord(point, { with_payload: true, ...request }));
  }

  function readOne(call: Call): Schemas['Record'] {
    const { points } = registry.get(readParameter(call, 'collection'));
    const id = readParameter(call, 'id');
    const point = points.get(toPointKey(/^\d+$/.test(id) ? id : JSON.stringify(id)));
    if (!point) throw notFound(`Point with id ${id} does not exists!`);
    return toRecord(point, { with_payload: true, with_vector: true });
  }

  function count(call: Call): Schemas['CountResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const { filter } = jsonBody<Schemas['CountRequest']>(call);
    if (!filter) return { count: collection.points.size() };
    const passes = compileFilter(filter as Schemas['Filter']);
    return {
      count: collection.points.all().reduce((sum, point) => sum + (passes(point) ? 1 : 0), 0),
    };
  }

  function facet(call: Call): Schemas['FacetResponse'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const { key, limit = DEFAULT_LIMIT, filter } = jsonBody<Schemas['FacetRequest']>(call);
    const passes = compileFilter(filter as Schemas['Filter'] | undefined);
    if (!collection.indexes.has(key)) throw badRequest(`No appropriate index for faceting: ${key}`);
    const counts = new Map<string, number>();
    for (const { payload } of collection.points.all().filter(passes)) {
      for (const value of readValues(payload, key)) {
        if (typeof value === 'string') counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    }
    const hits = [...counts].map(([value, count]) => ({ value, count }));
    hits.sort((first, second) => second.count - first.count);
    return { hits: hits.slice(0, limit ?? DEFAULT_LIMIT) };
  }

  return { scroll, retrieve, readOne, count, facet };
}

export function toRecord(
  point: StoredPoint,
  { with_payload, with_vector }: PointParts,
): Schemas['Record'] {
  const payload = toSelection(with_payload);
  const vector = toSelection(with_vector);
  return {
    id: verbatimId(point),
    ...(payload ? { payload: verbatim(asJsonText(formatPayload(point.payload, payload))) } : {}),
    ...(vector ? { vector: verbatim(asJsonText(formatVectors(point, vector))) } : {}),
  };
}

function verbatimId({ key }: StoredPoint): Schemas['ExtendedPointId'] {
  return verbatim(asJsonText<Schemas['ExtendedPointId']>(toIdText(key)));
}

function toSelection(wanted: unknown): true | readonly string[] | undefined {
  if (Array.isArray(wanted)) return wanted as string[];
  return wanted === true ? true : undefined;
}

// Reads the id as text, because an id beyond 2^53 would not survive as a number.
function readOffset(call: Call): string | undefined {
  const scanner = scanJson(call.body);
  for (const name of scanner.members<Schemas['ScrollRequest']>()) {
    if (name !== 'offset') continue;
    const offset = scanner.text();
    return offset === 'null' ? undefined : toPointKey(offset);
  }
  return undefined;
}

export function readIdTexts(call: Call, member: string): string[] {
  const scanner = scanJson(call.body);
  const ids: string[] = [];
  for (const name of scanner.members()) {
    if (name === member) ids.push(...scanner.list(scanner.text));
  }
  return ids;
}
