// A property graph as a restore fills one.
import type {
  GraphNode,
  GraphRelationship,
  GraphSource,
  SchemaRule,
} from '../../../lib/migration/graph/graph-store.ts';

/** none: not begun, or complete. finishing: everything is restored, and the restore's marks are being removed. */
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
  /** Returns when the graph has the constraints; existing ones are left alone. */
  createSchema(rules: readonly SchemaRule[]): Promise<void>;
  /** Removes the marks of the restore. */
  finishRestore(): Promise<void>;
}

export interface GraphTarget extends GraphSource, GraphRestore {}
