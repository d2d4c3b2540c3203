// What all calls of one sandbox share.

import { Refusal } from './refusal.ts';
import type { Registry } from './registry.ts';
import type { SnapshotFolder } from './snapshot-folder.ts';
import { type Feature, has } from './versions.ts';

export interface SandboxState {
  /** The Qdrant version it behaves as. */
  readonly version: string;
  readonly registry: Registry;
  readonly snapshots: SnapshotFolder;
}

/** An older server has no such route. */
export function requireFeature(version: string, feature: Feature): void {
  if (!has(version, feature)) throw new Refusal(404, '', { plain: true });
}
