// Everything that the steps of a migration speak to.

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
  /** What users speak to, whichever version is deployed. */
  readonly backend: MemoryBackend;
  /** The new version on the new collection, where it can be reached before the cutover. */
  readonly preview: MemoryBackend | undefined;
  readonly hooks: Hooks;
  /** Where it is gone, or was never there, the plan has to say so. */
  readonly graph: GraphSource | undefined;
  /** Of a snapshot, downloaded and kept as one artifact each: what a killed backup has to fetch again. */
  readonly snapshotPartBytes: number;
  readonly log: typeof logEntry;
}
