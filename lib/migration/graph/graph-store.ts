// A property graph, as the migration reads it. The migration's steps never change it.
import type { Properties } from './values.ts';

export interface GraphNode {
  /** Valid only in this store, and only until the node is deleted: another node may then get the same id. */
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

/** A constraint, or an index that no constraint owns */
export interface SchemaRule {
  readonly name: string;
  readonly type: string;
  readonly statement: string;
}

/** The read operations that a dump needs */
export interface GraphSource {
  readServer(): Promise<GraphServer>;
  readSize(): Promise<GraphSize>;
  /** Reads a position that changes only when a transaction is committed. */
  readPosition(): Promise<string>;
  /** Reads constraints first, then indexes. */
  readSchema(): Promise<readonly SchemaRule[]>;
  /** Streams the nodes in any order, and may include those committed meanwhile. */
  streamNodes(): AsyncIterable<GraphNode>;
  streamRelationships(): AsyncIterable<GraphRelationship>;
}

/** Label and property that mark an unfinished restore. A graph whose own data uses them cannot be restored. */
export const RESTORE_LABEL = '_Restore';
export const RESTORE_ID = '_restoreId';
