// A property graph as the migration reads it, and as a restore fills one.
import type { Properties } from './values.ts';

export interface GraphNode {
  /** Of this store and this moment: it means nothing elsewhere, and may be given again after a deletion. */
  readonly id: string;
  readonly labels: readonly string[];
  readonly properties: Properties;
}

export interface GraphRelationship {
  readonly id: string;
  readonly type: string;
  readonly start: string;
  readonly end: string;
  readonly properties: Properties;
}

export interface GraphSize {
  readonly nodes: number;
  readonly relationships: number;
}

export interface GraphServer {
  readonly version: string;
  readonly edition: string;
  readonly database: string;
}

/** A constraint, or an index that no constraint owns. */
export interface SchemaRule {
  readonly name: string;
  readonly type: string;
  readonly statement: string;
}

/** What a dump needs: nothing here can change the graph. */
export interface GraphSource {
  server(): Promise<GraphServer>;
  size(): Promise<GraphSize>;
  /** Stays the same for as long as nothing is committed. */
  position(): Promise<string>;
  /** Constraints before indexes. */
  schema(): Promise<readonly SchemaRule[]>;
  /** In no order. Reads on as it is consumed, and sees what others commit meanwhile. */
  nodes(): AsyncIterable<GraphNode>;
  relationships(): AsyncIterable<GraphRelationship>;
}

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

/** The marks of a restore that is not finished. A graph with these names in it cannot be restored. */
export const RESTORE_LABEL = '_Restore';
export const RESTORE_ID = '_restoreId';
