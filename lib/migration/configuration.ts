// What the old collection was configured with, so that the new one is as fast, as large and as safe; and what only the
// program that makes a collection can set.
import type { Schemas } from '@qdrant/js-client-rest';
import type { VectorStore } from './adapters/qdrant.ts';
import { healthyInfo } from './point-writer.ts';
import { type CollectionInfo, type CollectionUpdate, denseVectorOf } from './ports/vector-store.ts';
import { type StepContext, type Waiting, waiting } from './runs/step.ts';

/** All that the store changes in a collection that is there. */
export function configurationOf(info: CollectionInfo): CollectionUpdate {
  const { config } = info;
  const { params, hnsw_config, optimizer_config, quantization_config, strict_mode_config } = config;
  const { replication_factor, write_consistency_factor, on_disk_payload } = params;
  const { read_fan_out_factor, read_fan_out_delay_ms } = params;
  const own = denseVectorOf(info);
  return {
    hnsw_config,
    optimizers_config: optimizer_config,
    params: given({
      replication_factor,
      write_consistency_factor,
      on_disk_payload,
      read_fan_out_factor,
      read_fan_out_delay_ms,
    }),
    vectors: {
      '': given({
        on_disk: own.on_disk,
        memory: own.memory,
        hnsw_config: own.hnsw_config,
        quantization_config: own.quantization_config,
      }),
    },
    // None leaves it as it is.
    quantization_config: quantization_config ?? null,
    strict_mode_config: strict_mode_config ?? null,
  };
}

/** With its payload indexes; again without harm. */
export async function bringConfiguration(
  vectors: VectorStore,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const info = await vectors.collectionInfo(from);
  if (!info) return;
  await vectors.updateCollection(to, configurationOf(info));
  for (const [field_name, index] of Object.entries(info.payload_schema)) {
    const { data_type, params } = index as Schemas['PayloadIndexInfo'];
    await vectors.createPayloadIndex(to, { field_name, field_schema: params ?? data_type });
  }
}

/** Fixed when a collection is made. */
export function fixedSettingsOf(info: CollectionInfo) {
  const { shard_number = 1 } = info.config.params;
  return { shard_number, datatype: denseVectorOf(info).datatype ?? 'float32' };
}

/**
 * What is still to be waited for until all that the collection holds is indexed. A search would be slow until then.
 * @throws Refusal when its store does not index any more
 */
export async function untilIndexed(
  { services: { vectors }, renew }: Pick<StepContext, 'services' | 'renew'>,
  collection: string,
): Promise<Waiting | undefined> {
  const info = await healthyInfo({ store: vectors, collection });
  if (info?.status !== 'yellow' && info?.status !== 'grey') return undefined;
  await renew();
  // A store that was started again waits for a change before it goes on.
  if (info.status === 'grey') await vectors.updateCollection(collection, { optimizers_config: {} });
  const [done, all] = [info.indexed_vectors_count, info.points_count].map((count) =>
    (count ?? 0).toLocaleString('en'),
  );
  return waiting(`the index of ${collection}: ${done} vectors of ${all} points`, 1);
}

/** Waits until nothing of the collection is being optimized, or written: or its optimizer is switched off. */
export async function untilIdle(
  { services: { vectors }, renew }: Pick<StepContext, 'services' | 'renew'>,
  collection: string,
): Promise<Waiting | undefined> {
  const info = await healthyInfo({ store: vectors, collection });
  if (!info || isSwitchedOff(info)) return undefined;
  const isQuiet = (info.update_queue?.length ?? 0) === 0;
  if (info.status === 'green' && isQuiet) return undefined;
  await renew();
  if (info.status === 'grey') await vectors.updateCollection(collection, { optimizers_config: {} });
  return waiting(`the optimizer of ${collection}`, 1);
}

function isSwitchedOff({ config }: CollectionInfo): boolean {
  return config.optimizer_config.max_optimization_threads === 0;
}

function given(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
