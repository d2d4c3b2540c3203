// A property graph as the migration reads it. Nothing here, nor in any function, can change one.
import type { Properties } from './values.ts';

export interface GraphNode {
  /** Valid in this store at this moment only; may be assigned again after a deletion. */
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
}

/** A constraint, or an index that no constraint owns. */
export interface SchemaRule {
  readonly name: string;
  readonly type: string;
  readonly statement: string;
}

/** Reads that a dump needs */
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

/** The marks of a restore that is not finished. A graph with these names in it cannot be restored. */
export const RESTORE_LABEL = '_Restore';
export const RESTORE_ID = '_restoreId';
