// A property graph as a restore fills one.
import type {
  GraphNode,
  GraphRelationship,
  GraphSource,
  SchemaRule,
} from '../../../lib/migration/graph/graph-store.ts';

/** none: never begun, or ended. finishing: all is there, and the marks of the restore are being removed. */
export type RestoreState = 'none' | 'filling' | 'finishing';

/** Every call may be made again after one whose answer was lost. */
export interface GraphRestore {
  restoreState(): Promise<RestoreState>;
  /** Nodes that no unfinished restore has put there. */
  foreignNodes(): Promise<number>;
  beginRestore(): Promise<void>;
  restoreNodes(batch: readonly GraphNode[]): Promise<void>;
  /** @throws Refusal when a node at an end is not there */
  restoreRelationships(batch: readonly GraphRelationship[]): Promise<void>;
  /** Returns when the graph keeps to the rules; those that are there already are left alone. */
  createSchema(rules: readonly SchemaRule[]): Promise<void>;
  /** Removes the marks of the restore. */
  finishRestore(): Promise<void>;
}

export interface GraphTarget extends GraphSource, GraphRestore {}
