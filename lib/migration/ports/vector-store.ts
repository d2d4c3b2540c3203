// What the migration needs of a vector store, in the store's own words. Points are carried as text.
import type { Schemas } from '@qdrant/js-client-rest';
import type { JsonText } from '../json/json-text.ts';

export type CollectionInfo = Schemas['CollectionInfo'];
export type CollectionSettings = Schemas['CreateCollection'];
export type Filter = Schemas['Filter'];
export type SnapshotDescription = Schemas['SnapshotDescription'];

export type PointId = JsonText<Schemas['ExtendedPointId']>;
export type PointVector = JsonText<Schemas['VectorStruct']>;
export type PointPayload = JsonText<Schemas['Payload']>;

export interface Point {
  readonly id: PointId;
  readonly vector: PointVector;
  readonly payload: PointPayload;
}

/** Which parts of a point to return; all by default. */
export interface PointParts {
  /** All of it, some keys of it, or none of it. */
  readonly payload?: boolean | readonly string[];
  /** All of them, some by name, or none. */
  readonly vector?: boolean | readonly string[];
}

export interface ScrollRequest extends PointParts {
  readonly limit: number;
  /** Inclusive: exactly what the page before it gave. */
  readonly offset?: PointId | null;
  readonly filter?: Filter;
}

/** What was not asked for is absent: `undefined` for a vector, `null` for a payload. */
export interface ScrolledPoint {
  readonly id: PointId;
  readonly vector: PointVector | undefined;
  readonly payload: PointPayload;
}

export interface ScrollPage {
  readonly points: readonly ScrolledPoint[];
  /** `null` on the last page, and only there. */
  readonly nextOffset: PointId | null;
}

/** Either by id, or by what their payload says. */
export type PointSelection = { readonly ids: readonly PointId[] } | { readonly filter: Filter };

export interface VectorCollections {
  /** The version the store runs, such as `1.18.3`: the gate of everything that depends on it. */
  version(): Promise<string>;
  isReady(): Promise<boolean>;
  /** How many nodes the store has; a snapshot holds the shards of one. */
  nodeCount(): Promise<number>;
  /** Names of collections; aliases are not among them. */
  listCollections(): Promise<string[]>;
  /** True for the name of an alias, too. */
  collectionExists(collection: string): Promise<boolean>;
  /** Follows an alias. `undefined` when there is none of that name. */
  collectionInfo(collection: string): Promise<CollectionInfo | undefined>;
  createCollection(collection: string, settings: CollectionSettings): Promise<void>;
  /** Its aliases go with it. False when there was none. */
  deleteCollection(collection: string): Promise<boolean>;
  createPayloadIndex(collection: string, index: Schemas['CreateFieldIndex']): Promise<void>;
  listAliases(): Promise<Schemas['AliasDescription'][]>;
}

export interface VectorPoints {
  /** Exact. */
  count(collection: string, filter?: Filter): Promise<number>;
  /** In order of id. No snapshot: what is inserted behind the cursor is missed. */
  scroll(collection: string, request: ScrollRequest): Promise<ScrollPage>;
  /** Unknown ids are left out. */
  retrieve(
    collection: string,
    ids: readonly PointId[],
    parts?: PointParts,
  ): Promise<ScrolledPoint[]>;
  /** Durable when it returns. `insert_only` (1.17 and later) never touches a point that exists. */
  upsert(collection: string, points: readonly Point[], mode: Schemas['UpdateMode']): Promise<void>;
  deletePoints(collection: string, selection: PointSelection): Promise<void>;
  /** Whether the store itself can make a keyword vector of a text for that slot. */
  encodesKeywords(collection: string, slot: string): Promise<boolean>;
}

/** A part of a snapshot file. */
export interface SnapshotPart {
  /** Of the whole file; `undefined` when the store does not tell. */
  readonly totalBytes: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface SnapshotUpload {
  readonly fileName: string;
  readonly size: number;
  /** SHA-256, hexadecimal. */
  readonly checksum: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Ends it, however far it has come: what is there of the collection then is not complete. */
  readonly signal?: AbortSignal;
}

export interface VectorSnapshots {
  /** Asks for one and returns at once: it is complete when it is listed. A failure is reported nowhere. */
  startSnapshot(collection: string): Promise<void>;
  listSnapshots(collection: string): Promise<SnapshotDescription[]>;
  /** From a byte to the end. A connection that ends early is continued where it stopped. */
  downloadSnapshot(collection: string, name: string, fromByte?: number): Promise<SnapshotPart>;
  /** Done already when there is none of that name. */
  deleteSnapshot(collection: string, name: string): Promise<void>;
  /**
   * Returns when the store has the whole file. It then makes a collection of it, or overwrites one that exists; a failure
   * of that is reported nowhere.
   */
  uploadSnapshot(collection: string, upload: SnapshotUpload): Promise<void>;
  /** Asked once: how many points a collection has that may still be being restored; undefined while it cannot be read. */
  restoredPoints(collection: string): Promise<number | undefined>;
}

export interface VectorStore extends VectorCollections, VectorPoints, VectorSnapshots {}
