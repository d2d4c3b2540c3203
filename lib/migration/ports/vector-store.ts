// Reads and writes of a vector store, in the store's own words. Points are carried as text.
import type { Schemas } from '@qdrant/js-client-rest';
import type { JsonText } from '../json/json-text.ts';

export type CollectionInfo = Schemas['CollectionInfo'];
export type CollectionSettings = Schemas['CreateCollection'];
export type CollectionUpdate = Schemas['UpdateCollection'];
export type Filter = Schemas['Filter'];
export type SparseVector = Schemas['SparseVector'];
export type SparseVectorSettings = Schemas['SparseVectorParams'];
export type SnapshotDescription = Schemas['SnapshotDescription'];

export type PointId = JsonText<Schemas['ExtendedPointId']>;
export type PointVector = JsonText<Schemas['VectorStruct']>;
export type PointPayload = JsonText<Schemas['Payload']>;

export interface Point {
  readonly id: PointId;
  readonly vector: PointVector;
  readonly payload: PointPayload;
}

/** Named vectors of one point, written only where the filter holds when they are written. */
export interface VectorUpdate {
  readonly id: PointId;
  readonly vector: PointVector;
  /** Without it, in any case. */
  readonly filter?: Filter;
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

/** Parts that were not requested are absent: `undefined` for a vector, `null` for a payload. */
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

export interface SearchRequest {
  readonly nearest:
    | { readonly vector: JsonText<readonly number[]> }
    | { readonly slot: string; readonly text: JsonText<string> }
    /** The points that have one of these in the slot. */
    | { readonly slot: string; readonly indices: readonly number[] };
  readonly filter?: Filter;
  readonly limit: number;
  /** Compares with every vector as it was written: without index and quantisation. */
  readonly isExact?: boolean;
}

export interface Hit {
  readonly id: PointId;
  readonly score: number;
  /** The number of the last write to it: of the store's own count of the writes to the collection. */
  readonly version: number;
}

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Time inside the store, as reported by it: network time slows both collections equally. */
  readonly milliseconds: number;
}

/** Either by id, or by what their payload says. */
export type PointSelection = { readonly ids: readonly PointId[] } | { readonly filter: Filter };

/** A part of a snapshot file. */
export interface SnapshotPart {
  /** Size of the whole file; `undefined` if the store does not report it */
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

type VectorParams = Extract<Schemas['VectorsConfig'], { size: number }>;

/** The unnamed vector's; empty where vectors have names. */
export function denseVectorOf(info: CollectionInfo | undefined): Partial<VectorParams> {
  const { vectors = {} } = info?.config.params ?? {};
  return 'size' in vectors && typeof vectors.size === 'number' ? (vectors as VectorParams) : {};
}
