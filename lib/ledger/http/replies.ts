// Replies of handlers before serialization: a status and a body in the service's envelope.
import type { Pagination } from '../domain/pagination.ts';
import type { FieldErrors } from '../errors.ts';
import { toPageCursor } from './cursor.ts';

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Beside those of every response, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, in the place of the body. */
  readonly text?: string;
  /** True if `text` is base64, which the gateway decodes. */
  readonly isBase64Encoded?: boolean;
}

export const ERROR_CODES = [
  'validation_failed',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'payload_too_large',
  'unsupported_media_type',
  'precondition_failed',
  'idempotency_key_reused',
  'internal_server_error',
  'unavailable',
] as const;

export interface Failure {
  readonly error: (typeof ERROR_CODES)[number];
  readonly message: string;
  readonly details?: FieldErrors | undefined;
  /** The record that has what was to be unique. */
  readonly existing_id?: number | undefined;
}

export function found(data: object): Reply {
  return { status: 200, body: { success: true, data } };
}

/** A single record, as its resource shows it. */
interface RecordJson {
  readonly id: number;
  readonly etag: string;
}

export function foundRecord(data: RecordJson): Reply {
  return { ...found(data), headers: { etag: data.etag } };
}

export function foundAll(data: readonly object[]): Reply {
  return { status: 200, body: { success: true, data, count: data.length } };
}

export function foundPage(data: readonly object[], pagination: Pagination): Reply {
  return { status: 200, body: { success: true, data, pagination: toPaginationJson(pagination) } };
}

/** @param path that the request was sent to: the record has its place below it */
export function created(data: RecordJson, message: string, path: string): Reply {
  const location = `${path.replace(/\/$/, '')}/${data.id}`;
  const body = { success: true, data, message };
  return { status: 201, body, headers: { etag: data.etag, location } };
}

/** @param data a record; or what is no single record, without an ETag */
export function updated(data: object, message: string): Reply {
  const headers = 'etag' in data ? { etag: String(data.etag) } : {};
  return { status: 200, body: { success: true, data, message }, headers };
}

export function deleted(message: string): Reply {
  return { status: 200, body: { success: true, message } };
}

export function preflightAnswered(): Reply {
  return { status: 200, body: { success: true } };
}

export function failed(status: number, failure: Failure): Reply {
  return { status, body: { success: false, ...failure } };
}

export function toPaginationJson(pagination: Pagination) {
  return {
    page: pagination.page,
    per_page: pagination.perPage,
    total: pagination.total,
    pages: pagination.pages,
    has_next: pagination.hasNext,
    has_prev: pagination.hasPrev,
    next_cursor: pagination.next && toPageCursor(pagination.next),
  };
}
