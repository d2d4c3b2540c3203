// One collection: its settings, payload indexes and points, and the response that describes them
import type { Schemas } from '@qdrant/js-client-rest';
import { createPointTable, type PointTable, type StoredPoint } from './point-table.ts';

export interface Collection {
  /** Replaced, never changed, because copies of the collection share this object */
  params: Schemas['CollectionParams'];
  strictMode: Schemas['StrictModeConfig'];
  /** Index, optimizer and quantization settings that a client sent */
  tuning: Pick<Schemas['CreateCollection'], (typeof TUNING)[number]>;
  readonly metadata: Schemas['Payload'] | undefined;
  readonly indexes: Map<string, Schemas['PayloadFieldSchema']>;
  readonly points: PointTable;
  /** Number of optimizations and snapshots in progress; the collection is yellow while it is above zero. */
  busy: number;
  failed: boolean;
  /** Points deleted since the running optimization began; undefined while none runs. */
  deletedMeanwhile: Map<string, StoredPoint> | undefined;
}

export const TUNING = ['hnsw_config', 'optimizers_config', 'quantization_config'] as const;

export function createCollection(settings: Schemas['CreateCollection']): Collection {
  const { vectors, sparse_vectors, strict_mode_config, metadata } = settings;
  return {
    params: {
      ...(vectors ? { vectors } : {}),
      ...(sparse_vectors ? { sparse_vectors } : {}),
      shard_number: settings.shard_number ?? 1,
      ...(settings.sharding_method && { sharding_method: settings.sharding_method }),
      replication_factor: settings.replication_factor ?? 1,
      write_consistency_factor: settings.write_consistency_factor ?? 1,
      on_disk_payload: settings.on_disk_payload ?? true,
    },
    strictMode: strict_mode_config ?? {},
    tuning: pickTuning(settings),
    metadata: (metadata as Schemas['Payload'] | null | undefined) ?? undefined,
    indexes: new Map(),
    points: createPointTable(),
    busy: 0,
    failed: false,
    deletedMeanwhile: undefined,
  };
}

/** Settings that the update does not name keep their values. */
export function updateCollection(
  collection: Collection,
  update: Schemas['UpdateCollection'],
): void {
  const { params, strictMode, tuning } = collection;
  const { '': vector } = (update.vectors ?? {}) as Schemas['VectorsConfigDiff'];
  collection.params = {
    ...params,
    ...update.params,
    vectors: { ...params.vectors, ...vector },
  } as Collection['params'];
  collection.strictMode = { ...strictMode, ...update.strict_mode_config };
  const changed = pickTuning(update);
  const merged: Schemas['OptimizersConfigDiff'] = {
    ...tuning.optimizers_config,
    ...changed.optimizers_config,
  };
  const isAuto = merged.max_optimization_threads === 'auto';
  const optimizers_config = { ...merged, ...(isAuto && { max_optimization_threads: null }) };
  collection.tuning = { ...tuning, ...changed, optimizers_config };
  const isTuned = Object.keys(update).some((name) => name !== 'strict_mode_config');
  if (isTuned) cancelOptimization(collection);
}

/**
 * Cancels the running optimization, and undoes the deletions that it has recorded. A new one begins, unless the optimizer is now
 * off.
 */
function cancelOptimization(collection: Collection): void {
  undoDeletions(collection);
  if (collection.tuning.optimizers_config?.max_optimization_threads !== 0) return;
  collection.busy = 0;
  collection.deletedMeanwhile = undefined;
}

/**
 * Begins an optimization of the collection, unless optimizations are switched off. The collection is yellow until the returned
 * function ends the optimization. Seen on a release build of Qdrant 1.18.3 (2026-11-25): adding a named vector meanwhile undoes
 * every deletion made since the optimization began. The sources of 1.18.3 and 1.19.0 explain why: adding a vector or changing a
 * setting cancels the optimization, with all the deletions that it has recorded.
 */
export function beginOptimization(collection: Collection): () => void {
  if (collection.tuning.optimizers_config?.max_optimization_threads === 0) return () => {};
  collection.busy += 1;
  collection.deletedMeanwhile ??= new Map();
  return () => {
    collection.busy = Math.max(0, collection.busy - 1);
    collection.deletedMeanwhile = undefined;
  };
}

export function undoDeletions({ points, deletedMeanwhile }: Collection): void {
  for (const point of deletedMeanwhile?.values() ?? []) {
    if (!points.has(point.key)) points.restore(point);
  }
  deletedMeanwhile?.clear();
}

function pickTuning(settings: Schemas['UpdateCollection'] | Schemas['CreateCollection']) {
  const present = TUNING.flatMap((name) => (settings[name] ? [[name, settings[name]]] : []));
  return Object.fromEntries(present) as Collection['tuning'];
}

/** Copies a collection; a later write to either one does not change the other. */
export function copyCollection(collection: Collection): Collection {
  const { indexes, points } = collection;
  return {
    ...collection,
    indexes: new Map(indexes),
    points: createPointTable(points.all()),
    busy: 0,
    deletedMeanwhile: undefined,
  };
}

export function toInfo(collection: Collection): Schemas['CollectionInfo'] {
  const { points, params, strictMode, metadata, tuning } = collection;
  return {
    status: describeStatus(collection),
    optimizer_status: collection.failed ? { error: 'Service internal error' } : 'ok',
    indexed_vectors_count: 0,
    points_count: points.size(),
    segments_count: 1,
    config: {
      params,
      hnsw_config: {
        m: 16,
        ef_construct: 100,
        full_scan_threshold: 10_000,
        ...(tuning.hnsw_config as object),
      },
      optimizer_config: {
        deleted_threshold: 0.2,
        vacuum_min_vector_number: 1_000,
        default_segment_number: 0,
        flush_interval_sec: 5,
        ...(tuning.optimizers_config as object),
      },
      quantization_config: tuning.quantization_config ?? null,
      strict_mode_config: { enabled: false, ...strictMode },
      ...(metadata ? { metadata } : {}),
    },
    payload_schema: Object.fromEntries(
      [...collection.indexes].map(([field, schema]) => [
        field,
        {
          points: points.size(),
          ...(typeof schema === 'string'
            ? { data_type: schema }
            : { data_type: schema.type, params: schema }),
        },
      ]),
    ),
  };
}

function describeStatus({ failed, busy }: Collection): Schemas['CollectionStatus'] {
  if (failed) return 'red';
  return busy > 0 ? 'yellow' : 'green';
}
