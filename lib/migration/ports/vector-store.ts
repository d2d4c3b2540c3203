// Requests to a vector store and its responses, in the store's own terms. Points remain JSON text, so that no digit is lost.
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

/** Named vectors to write to one point */
export interface VectorUpdate {
  readonly id: PointId;
  readonly vector: PointVector;
  /** Condition that the point must meet when it is written */
  readonly filter?: Filter;
}

/** Which parts of a point to return; all by default. */
export interface PointParts {
  /** The whole payload, some of its keys, or none */
  readonly payload?: boolean | readonly string[];
  /** All vectors, some by name, or none */
  readonly vector?: boolean | readonly string[];
}

export interface ScrollRequest extends PointParts {
  readonly limit: number;
  /** First point of the page: the `nextOffset` of the previous page */
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
    /** Finds the points with one of these indices in the slot. */
    | { readonly slot: string; readonly indices: readonly number[] };
  readonly filter?: Filter;
  readonly limit: number;
  /** True to compare with every vector as it was written, without index or quantization */
  readonly isExact?: boolean;
}

export interface Hit {
  readonly id: PointId;
  readonly score: number;
  /** Number of the last write to this point: the store numbers the writes to a collection. */
  readonly version: number;
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Time inside the store, as the store reports it; without network time, which does not depend on the collection */
  readonly milliseconds: number;
}

/** Points by their ids or by a filter */
export type PointSelection = { readonly ids: readonly PointId[] } | { readonly filter: Filter };

/** Part of a snapshot file */
export interface SnapshotPart {
  /** Size of the whole file; `undefined` if the store does not report it */
  readonly totalBytes: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface SnapshotUpload {
  readonly fileName: string;
  readonly size: number;
  /** SHA-256, hexadecimal */
  readonly checksum: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Aborts the upload: the collection is then incomplete. */
  readonly signal?: AbortSignal;
}

type VectorParams = Extract<Schemas['VectorsConfig'], { size: number }>;

/** @returns the parameters of the unnamed vector; empty if all vectors are named */
export function readDenseVector(info: CollectionInfo | undefined): Partial<VectorParams> {
  const { vectors = {} } = info?.config.params ?? {};
  return 'size' in vectors && typeof vectors.size === 'number' ? (vectors as VectorParams) : {};
}
