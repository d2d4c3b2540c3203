// Copies the old collection's configuration to the new one, so that it is as fast and has as many replicas. Settings that are
// fixed when a collection is created are only read.
import type { Schemas } from '@qdrant/js-client-rest';
import type { VectorStore } from './adapters/qdrant.ts';
import { readHealthyInfo } from './point-writer.ts';
import {
  type CollectionInfo,
  type CollectionUpdate,
  readDenseVector,
} from './ports/vector-store.ts';
import { Refusal } from './refusals.ts';
import { Paused } from './runs/journal.ts';
import type { StepContext } from './runs/step.ts';
import { MINUTE_MS } from './runs/times.ts';

/** Reads the settings that can be changed in an existing collection. */
export function readConfiguration(info: CollectionInfo): CollectionUpdate {
  const { config } = info;
  const { params, hnsw_config, optimizer_config, quantization_config, strict_mode_config } = config;
  const { replication_factor, write_consistency_factor, on_disk_payload } = params;
  const { read_fan_out_factor, read_fan_out_delay_ms } = params;
  const denseVector = readDenseVector(info);
  return {
    hnsw_config,
    optimizers_config: optimizer_config,
    params: omitMissing({
      replication_factor,
      write_consistency_factor,
      on_disk_payload,
      read_fan_out_factor,
      read_fan_out_delay_ms,
    }),
    vectors: {
      '': omitMissing({
        on_disk: denseVector.on_disk,
        memory: denseVector.memory,
        hnsw_config: denseVector.hnsw_config,
        quantization_config: denseVector.quantization_config,
      }),
    },
    // Null leaves the setting unchanged.
    quantization_config: quantization_config ?? null,
    strict_mode_config: strict_mode_config ?? null,
  };
}

/** Copies changeable settings and payload indexes. Can be repeated. */
export async function copyConfiguration(
  vectors: VectorStore,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const info = await vectors.readCollectionInfo(from);
  if (!info) return;
  await vectors.updateCollection(to, readConfiguration(info));
  for (const [field_name, index] of Object.entries(info.payload_schema)) {
    const { data_type, params } = index as Schemas['PayloadIndexInfo'];
    await vectors.createPayloadIndex(to, { field_name, field_schema: params ?? data_type });
  }
}

/** Reads the settings that are fixed when a collection is created. */
export function readFixedSettings(info: CollectionInfo) {
  const { shard_number = 1 } = info.config.params;
  return { shard_number, datatype: readDenseVector(info).datatype ?? 'float32' };
}

type OptimizerContext = Pick<StepContext, 'services' | 'run' | 'renewLease' | 'updateRun'>;

/** After this time without progress, the optimizer counts as stuck. */
const MAX_STANDSTILL_MS = 10 * MINUTE_MS;

/**
 * Returns once all points of the collection are indexed, because searches are slow until then. Does not wait for an optimizer
 * that is switched off.
 * @throws Paused until then; Refusal if the store makes no progress
 */
export async function waitUntilIndexed(
  context: OptimizerContext,
  collection: string,
): Promise<void> {
  const info = await readHealthyInfo({ store: context.services.vectors, collection });
  const isBusy = info?.status === 'yellow' || info?.status === 'grey';
  if (isBusy && !isSwitchedOff(info)) await awaitOptimizer(context, collection, info);
}

/** Returns once the store neither optimizes nor writes to the collection. @throws like `waitUntilIndexed` */
export async function waitUntilIdle(context: OptimizerContext, collection: string): Promise<void> {
  const info = await readHealthyInfo({ store: context.services.vectors, collection });
  if (!info || isSwitchedOff(info)) return;
  const isQueueEmpty = (info.update_queue?.length ?? 0) === 0;
  if (info.status !== 'green' || !isQueueEmpty) await awaitOptimizer(context, collection, info);
}

async function awaitOptimizer(
  { services: { vectors, clock }, run, renewLease, updateRun }: OptimizerContext,
  collection: string,
  { status, indexed_vectors_count, points_count, segments_count }: CollectionInfo,
): Promise<never> {
  await renewLease();
  // After a restart, the store resumes optimizing only when it receives an update.
  if (status === 'grey') await vectors.updateCollection(collection, { optimizers_config: {} });
  const now = clock().getTime();
  const [done, total] = [indexed_vectors_count ?? 0, points_count ?? 0];
  const previous = run.optimizer?.collection === collection ? run.optimizer : undefined;
  const { began = { done, at: now } } = previous ?? {};
  const hasAdvanced = previous?.done !== done || previous.segments !== segments_count;
  const since = hasAdvanced ? now : previous.since;
  const counts = `${done.toLocaleString('en')} vectors of ${total.toLocaleString('en')} points`;
  if (hasAdvanced)
    await updateRun({ optimizer: { collection, done, segments: segments_count, since, began } });
  if (now - since >= MAX_STANDSTILL_MS) {
    await updateRun({ optimizer: undefined });
    const minutes = MAX_STANDSTILL_MS / MINUTE_MS;
    const why = `The optimizer of ${collection} is ${status}, with ${counts} and ${segments_count} segments, and has made no progress for ${minutes} minutes. Check the log of the store and the optimizer settings of the collection.`;
    throw new Refusal('RefusedByService', why);
  }
  const pointsPerMs = (done - began.done) / (now - began.at);
  const estimate = pointsPerMs > 0 && {
    leftSeconds: Math.ceil((total - done) / pointsPerMs / 1_000),
  };
  throw new Paused({
    waitsFor: `the index of ${collection}: ${counts}`,
    waitSeconds: 1,
    ...estimate,
  });
}

function isSwitchedOff({ config }: CollectionInfo): boolean {
  return config.optimizer_config.max_optimization_threads === 0;
}

function omitMissing(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
