// An act of the rehearsal: the events that it plays, and its expected end.
import type { Phase } from '../../../lib/migration/phases.ts';
import type { VersionSettings } from '../../memory-backend/memory-version.ts';
import type { WorldOptions } from '../../world.ts';
import type { Holdings } from '../holdings.ts';
import type { Parts } from '../parts.ts';
import type { Rehearsal } from '../rehearsal.ts';

export interface Act {
  readonly title: string;
  readonly options?: Partial<WorldOptions>;
  /** Swaps by snapshot and upload; changes the setting to the new collection by default. */
  readonly uploads?: boolean;
  /** Adds the keyword slot to the collection in use; copies it by default. */
  readonly isInPlace?: boolean;
  /** Why it cannot be played on these parts; undefined where it can. */
  readonly obstacle?: (parts: Parts) => string | undefined;
  readonly play: (rehearsal: Rehearsal) => Promise<Ending>;
}

export interface Ending {
  /** Expected phase of the run at the end. */
  readonly phase: Phase | 'not begun';
  /** Memories that users should have at the end; by default those they had before. */
  readonly holds?: Holdings;
  /** Writes to the new version that the rollback lost, as acknowledged. */
  readonly acknowledgedLoss?: number;
}

/** Settings of a version of the backend that another operator has deployed on a collection. */
export function settingsOn({ services, before }: Rehearsal, collection: string): VersionSettings {
  const { vectors: store, clock: now } = services;
  const dimensions = [...before.values()][0]?.vector.length ?? 0;
  return { store, collection, dimensions, now };
}
