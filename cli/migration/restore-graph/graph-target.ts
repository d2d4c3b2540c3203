// Interface of a property graph that a restore fills
import type {
  GraphNode,
  GraphRelationship,
  GraphSource,
  SchemaRule,
} from '../../../lib/migration/graph/graph-store.ts';

/** `none`: not begun, or complete. `finishing`: everything is restored, and the marks of the restore are being removed. */
export type RestoreState = 'none' | 'filling' | 'finishing';

/** Every method can be called again after a lost response. */
export interface GraphRestore {
  readRestoreState(): Promise<RestoreState>;
  /** Counts the nodes that are not from an unfinished restore. */
  countForeignNodes(): Promise<number>;
  beginRestore(): Promise<void>;
  restoreNodes(batch: readonly GraphNode[]): Promise<void>;
  /** @throws Refusal if a node at either end is missing */
  restoreRelationships(batch: readonly GraphRelationship[]): Promise<void>;
  /** Resolves when the graph has the constraints and indexes; leaves existing ones unchanged. */
  createSchema(rules: readonly SchemaRule[]): Promise<void>;
  /** Removes the marks of the restore. */
  finishRestore(): Promise<void>;
}

export interface GraphTarget extends GraphSource, GraphRestore {}
