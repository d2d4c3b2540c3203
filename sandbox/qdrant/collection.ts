// One collection: its settings, payload indexes and points, and what the info answer says of them.
import type { Schemas } from '@qdrant/js-client-rest';
import { createPointTable, type PointTable } from './point-table.ts';

export interface Collection {
  /** Replaced, never changed: copies share it. */
  params: Schemas['CollectionParams'];
  readonly strictMode: Schemas['StrictModeConfig'];
  readonly metadata: Schemas['Payload'] | undefined;
  readonly indexes: Map<string, Schemas['PayloadSchemaType']>;
  readonly points: PointTable;
  /** Yellow while this is above zero: optimising, or a snapshot being made. */
  busy: number;
  failed: boolean;
  operations: number;
}

export function createCollection(settings: Schemas['CreateCollection']): Collection {
  const { vectors, sparse_vectors, strict_mode_config, metadata } = settings;
  return {
    params: {
      ...(vectors ? { vectors } : {}),
      ...(sparse_vectors ? { sparse_vectors } : {}),
      shard_number: settings.shard_number ?? 1,
      replication_factor: 1,
      write_consistency_factor: 1,
      on_disk_payload: true,
    },
    strictMode: strict_mode_config ?? {},
    metadata: (metadata as Schemas['Payload'] | null | undefined) ?? undefined,
    indexes: new Map(),
    points: createPointTable(),
    busy: 0,
    failed: false,
    operations: 0,
  };
}

/** Independent of the original: what is written to one is not in the other. */
export function copyCollection(collection: Collection): Collection {
  const { indexes, points } = collection;
  return {
    ...collection,
    indexes: new Map(indexes),
    points: createPointTable(points.all()),
    busy: 0,
  };
}

export function toInfo(collection: Collection): Schemas['CollectionInfo'] {
  const { points, params, strictMode, metadata } = collection;
  return {
    status: statusOf(collection),
    optimizer_status: collection.failed ? { error: 'Service internal error' } : 'ok',
    indexed_vectors_count: 0,
    points_count: points.size(),
    segments_count: 1,
    config: {
      params,
      hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
      optimizer_config: {
        deleted_threshold: 0.2,
        vacuum_min_vector_number: 1_000,
        default_segment_number: 0,
        flush_interval_sec: 5,
      },
      strict_mode_config: { enabled: false, ...strictMode },
      ...(metadata ? { metadata } : {}),
    },
    payload_schema: Object.fromEntries(
      [...collection.indexes].map(([field, data_type]) => [
        field,
        { data_type, points: points.size() },
      ]),
    ),
  };
}

function statusOf({ failed, busy }: Collection): Schemas['CollectionStatus'] {
  if (failed) return 'red';
  return busy > 0 ? 'yellow' : 'green';
}
