// The state that all handlers of one sandbox share.

import type { Background } from './background.ts';
import type { Registry } from './registry.ts';
import type { SnapshotFolder } from './snapshot-folder.ts';

export interface SandboxState {
  /** The version of Qdrant that the sandbox behaves like. */
  readonly version: string;
  readonly registry: Registry;
  readonly background: Background;
  readonly snapshots: SnapshotFolder;
}
