// Handles the calls that write points. Each batch is read as a whole before any part of it is applied.
import type { Schemas } from '@qdrant/js-client-rest';
import { type JsonScanner, scanJson } from '../../lib/migration/json/json-scanner.ts';
import { parseLossless } from '../../lib/migration/json/json-text.ts';
import { type Call, jsonBody, readParameter } from './call.ts';
import type { Collection } from './collection.ts';
import { compileFilter } from './filters.ts';
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
  function upsert(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const { points, mode, filter } = readUpsert(call);
    const passes = compileFilter(filter);
    return applyWrite(call, collection, () => {
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

  function updateVectors(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const updates = readPoints(call);
    const filter = readMember<Schemas['UpdateVectors']>(call, 'update_filter') ?? 'null';
    const shouldUpdate = compileFilter(toFilter(filter));
    return applyWrite(call, collection, () => {
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

  function setPayload(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const members = toPayload(readMember<Schemas['SetPayload']>(call, 'payload'));
    return applyWrite(call, collection, () => {
      for (const point of selectPoints(call, collection)) {
        collection.points.put({ ...point, payload: mergeMembers(point.payload, members) });
      }
    });
  }

  function deleteVectors(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const names = new Set(jsonBody<Schemas['DeleteVectors']>(call).vector);
    return applyWrite(call, collection, () => {
      for (const point of selectPoints(call, collection)) {
        collection.points.put(removeSlots(point, names));
      }
    });
  }

  function remove(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    return applyWrite(call, collection, () => {
      for (const point of selectPoints(call, collection)) {
        collection.deletedMeanwhile?.set(point.key, point);
        collection.points.remove(point.key);
      }
    });
  }

  return { upsert, updateVectors, setPayload, deleteVectors, remove };
}

function selectPoints(call: Call, collection: Collection): StoredPoint[] {
  const { points } = collection;
  const filter = readMember<Schemas['FilterSelector']>(call, 'filter');
  if (filter !== undefined) return [...points.all().filter(compileFilter(toFilter(filter)))];
  const keys = new Set(readIdTexts(call, 'points').map(toPointKey));
  return [...keys].map((key) => points.get(key)).filter((point) => point !== undefined);
}

/** Parses without loss, because point ids may exceed the safe integers of JavaScript. */
function toFilter(text: string): Schemas['Filter'] {
  return parseLossless(text) as Schemas['Filter'];
}

function readUpsert({ body }: Call) {
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

function readPoints({ body }: Call): WrittenPoint[] {
  const scanner = scanJson(body);
  for (const member of scanner.members<Schemas['UpdateVectors']>()) {
    if (member === 'points') return readElements(scanner);
  }
  throw malformed('missing field `points`');
}

function readMember<Body>({ body }: Call, name: keyof Body & string): string | undefined {
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
