// The type of an act: what happens in it, and how it should end.
import type { Phase } from '../../../lib/migration/phases.ts';
import type { VersionSettings } from '../../memory-backend/memory-version.ts';
import type { WorldOptions } from '../../world.ts';
import type { Memories } from '../memories.ts';
import type { Parts } from '../parts.ts';
import type { Rehearsal } from '../rehearsal.ts';

export interface Act {
  readonly title: string;
  readonly options?: Partial<WorldOptions>;
  /** True to swap by snapshot and upload; by default the setting is changed to the new collection. */
  readonly uploads?: boolean;
  /** True to add the keyword slot to the active collection; by default the collection is copied. */
  readonly isInPlace?: boolean;
  /** Says why the act cannot be played on these parts; undefined if it can. */
  readonly obstacle?: (parts: Parts) => string | undefined;
  readonly play: (rehearsal: Rehearsal) => Promise<Ending>;
}

export interface Ending {
  /** Expected phase of the run at the end. */
  readonly phase: Phase | 'not begun';
  /** Memories that users should have at the end; by default the initial ones */
  readonly expectedMemories?: Memories;
  /** Number of writes to the new version that the rollback left behind, as the operator acknowledged. */
  readonly acknowledgedLoss?: number;
}

/** Returns settings for a second instance of the backend, which an act uses to write to the collection. */
export function createSettings(
  { services, initialMemories }: Rehearsal,
  collection: string,
): VersionSettings {
  const { vectors: store, clock: now } = services;
  const dimensions = [...initialMemories.values()][0]?.vector.length ?? 0;
  return { store, collection, dimensions, now };
}
