// The services that the steps of a migration use
import type { logEntry } from '../shared/log.ts';
import type { MemoryBackend } from './adapters/http-memory-backend.ts';
import type { VectorStore } from './adapters/qdrant.ts';
import type { GraphSource } from './graph/graph-store.ts';
import type { ArtifactStore } from './ports/artifacts.ts';
import type { CollectionSetting } from './ports/collection-setting.ts';
import type { Hooks } from './ports/hooks.ts';
import type { RunLock } from './runs/run-lock.ts';
import type { RunStore } from './runs/run-store.ts';

export interface Services {
  readonly clock: () => Date;
  readonly runs: RunStore;
  readonly lock: RunLock;
  readonly vectors: VectorStore;
  readonly artifacts: ArtifactStore;
  readonly setting: CollectionSetting;
  /** The service that users talk to, in either version */
  readonly backend: MemoryBackend;
  /** The new version on the new collection, if it can be reached before the cutover */
  readonly preview: MemoryBackend | undefined;
  readonly hooks: Hooks;
  /** The graph to back up; if undefined, the plan must accept that no graph is backed up. */
  readonly graph: GraphSource | undefined;
  /** Size of the parts in which a snapshot is kept; after a kill, a backup repeats at most one part. */
  readonly snapshotPartBytes: number;
  readonly log: typeof logEntry;
}
