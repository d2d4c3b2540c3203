// The changes of each schema version; schema.ts applies them to items. This file loads no database client, so that a deployment
// can compare its schema version with that of the previous release (serverless/deploy-rollback.ts).
import type { Item } from '../../shared/database.ts';

/**
 * Converts an item to the form of the next version. `change` sees only the attributes in `reads`, so every query also fetches
 * these.
 */
export interface Upgrade {
  readonly reads: readonly string[];
  /** Returns the new values of attributes; undefined removes the attribute. */
  readonly change: (read: Item) => Item;
}

/** In order of version. Items of release 0.1.0 have no version, but have the form of version 1. */
export const UPGRADES: readonly Upgrade[] = [{ reads: [], change: () => ({}) }];
