// A property graph as the migration reads it. No function of the migration can change it.
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
  readServer(): Promise<GraphServer>;
  readSize(): Promise<GraphSize>;
  /** Unchanged as long as nothing is committed */
  readPosition(): Promise<string>;
  /** Constraints first, then indexes */
  readSchema(): Promise<readonly SchemaRule[]>;
  /** Streams in no particular order, and includes commits made meanwhile. */
  streamNodes(): AsyncIterable<GraphNode>;
  streamRelationships(): AsyncIterable<GraphRelationship>;
}

/** Marks of an unfinished restore. A graph that uses these names itself cannot be restored. */
export const RESTORE_LABEL = '_Restore';
export const RESTORE_ID = '_restoreId';
