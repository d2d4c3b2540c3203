// Handles the calls that write points. Each batch is read as a whole before any part of it is applied.
import type { Schemas } from '@qdrant/js-client-rest';
import { type JsonScanner, scanJson } from '../../lib/migration/json/json-scanner.ts';
import { parseLossless } from '../../lib/migration/json/json-text.ts';
import type { Collection } from './collection.ts';
import { type Exchange, jsonBody, readName } from './exchange.ts';
import { toTest } from './filters.ts';
import { mergeMembers, toPayload } from './payloads.ts';
import { toPointKey } from './point-ids.ts';
import { readIdTexts } from './point-reads.ts';
import type { StoredPoint } from './point-table.ts';
import { malformed, notFound } from './refusal.ts';
import type { SandboxState } from './state.ts';
import { readVectors, removeSlots } from './vectors.ts';
import { hasFeature } from './versions.ts';
import { applyWrite } from './write-order.ts';

interface WrittenPoint {
  readonly id: string;
  readonly vector: string;
  readonly payload: string | undefined;
}

export function createPointWrites({ registry, version }: SandboxState) {
  function upsert(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    const { points, mode, filter } = readUpsert(exchange);
    const passes = toTest(filter);
    return applyWrite(exchange, collection, () => {
      const stored = points.map((point) => toStored(point, collection));
      for (const point of stored)
        if (shouldWrite(collection, point, { mode, passes })) collection.points.put(point);
    });
  }

  // An older server does not know the update mode, ignores it and overwrites.
  function shouldWrite(
    { points }: Collection,
    { key }: StoredPoint,
    { mode, passes }: { readonly mode: string; readonly passes: (point: StoredPoint) => boolean },
  ): boolean {
    if (!hasFeature(version, 'updateMode')) return true;
    const existing = points.get(key);
    if (existing && !passes(existing)) return false;
    return mode === 'upsert' || (existing !== undefined) === (mode === 'update_only');
  }

  function toStored({ id, vector, payload }: WrittenPoint, { params }: Collection): StoredPoint {
    const vectors = readVectors(vector, { version, params });
    return { key: toPointKey(id), payload: toPayload(payload), ...vectors };
  }

  function updateVectors(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    const updates = readPoints(exchange);
    const filter = readMember<Schemas['UpdateVectors']>(exchange, 'update_filter') ?? 'null';
    const shouldUpdate = toTest(toFilter(filter));
    return applyWrite(exchange, collection, () => {
      const existing = updates.flatMap(({ id, vector }) => {
        const point = collection.points.get(toPointKey(id));
        return point ? [{ point, vector }] : [];
      });
      for (const { point, vector } of existing) {
        if (shouldUpdate(point)) collection.points.put(mergeVectors(collection, point, vector));
      }
      const missing = updates.find(({ id }) => !collection.points.has(toPointKey(id)));
      if (missing) throw notFound(`No point with id ${missing.id} found`);
    });
  }

  function mergeVectors(collection: Collection, point: StoredPoint, vector: string): StoredPoint {
    const { dense, sparse } = readVectors(vector, { version, params: collection.params });
    const slots = new Map([...(point.sparse ?? []), ...(sparse ?? [])]);
    return { ...point, dense: dense ?? point.dense, sparse: slots.size > 0 ? slots : undefined };
  }

  function setPayload(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    const members = toPayload(readMember<Schemas['SetPayload']>(exchange, 'payload'));
    return applyWrite(exchange, collection, () => {
      for (const point of selectPoints(exchange, collection)) {
        collection.points.put({ ...point, payload: mergeMembers(point.payload, members) });
      }
    });
  }

  function deleteVectors(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    const names = new Set(jsonBody<Schemas['DeleteVectors']>(exchange).vector);
    return applyWrite(exchange, collection, () => {
      for (const point of selectPoints(exchange, collection)) {
        collection.points.put(removeSlots(point, names));
      }
    });
  }

  function remove(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    return applyWrite(exchange, collection, () => {
      for (const point of selectPoints(exchange, collection)) {
        collection.deletedMeanwhile?.set(point.key, point);
        collection.points.remove(point.key);
      }
    });
  }

  return { upsert, updateVectors, setPayload, deleteVectors, remove };
}

function selectPoints(exchange: Exchange, collection: Collection): StoredPoint[] {
  const { points } = collection;
  const filter = readMember<Schemas['FilterSelector']>(exchange, 'filter');
  if (filter !== undefined) return [...points.all().filter(toTest(toFilter(filter)))];
  const keys = new Set(readIdTexts(exchange, 'points').map(toPointKey));
  return [...keys].map((key) => points.get(key)).filter((point) => point !== undefined);
}

/** Parses without loss, because point ids may exceed the safe integers of JavaScript. */
function toFilter(text: string): Schemas['Filter'] {
  return parseLossless(text) as Schemas['Filter'];
}

function readUpsert({ body }: Exchange) {
  const scanner = scanJson(body);
  let points: WrittenPoint[] | undefined;
  let mode = 'upsert';
  let filter: Schemas['Filter'] | undefined;
  for (const member of scanner.members<Schemas['PointsList']>()) {
    if (member === 'points') points = readElements(scanner);
    if (member === 'update_mode') mode = String(JSON.parse(scanner.text()));
    if (member === 'update_filter') filter = toFilter(scanner.text());
  }
  if (!points)
    throw malformed('data did not match any variant of untagged enum PointInsertOperations');
  return { points, mode, filter };
}

function readPoints({ body }: Exchange): WrittenPoint[] {
  const scanner = scanJson(body);
  for (const member of scanner.members<Schemas['UpdateVectors']>()) {
    if (member === 'points') return readElements(scanner);
  }
  throw malformed('missing field `points`');
}

function readMember<Body>({ body }: Exchange, name: keyof Body & string): string | undefined {
  const scanner = scanJson(body);
  for (const member of scanner.members<Body>()) if (member === name) return scanner.text();
  return undefined;
}

function readElements(scanner: JsonScanner): WrittenPoint[] {
  return scanner.list(() => {
    const { id, vector, payload } = scanner.texts<Schemas['PointStruct']>();
    if (id === undefined || vector === undefined) throw malformed('missing field `id` or `vector`');
    return { id, vector, payload };
  });
}
