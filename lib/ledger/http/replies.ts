// Replies of handlers before serialization: a status and a body in the service's envelope.
import type { Pagination } from '../domain/pagination.ts';
import type { FieldErrors } from '../errors.ts';
import type { Responses } from './api-types.ts';
import { toPageCursor } from './cursor.ts';

export interface Reply<Body extends object = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly body: Body;
  /** Headers besides those of every response, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Raw payload; replaces `body`. */
  readonly text?: string;
  /** True if `text` is base64, which the gateway decodes. */
  readonly isBase64Encoded?: boolean;
}

/** The `body` of a reply without a body, or with `text` instead. */
export type NoBody = Readonly<Record<string, never>>;

/** The id of an operation, as lib/ledger/http/endpoints declares it. */
export type Operation = keyof Responses;

type ReadonlyJson<Json> = Json extends object
  ? { readonly [Name in keyof Json]: ReadonlyJson<Json[Name]> }
  : Json;

/** A reply in the form that the operation declares. A reply of another form does not compile. */
export type ReplyTo<Id extends Operation> = Reply<
  ReadonlyJson<Extract<Responses[Id], object>> | NoBody
>;

type SuccessReply<Fields> = Reply<{ readonly success: boolean } & Fields>;

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
  /** The record that already has the unique value. */
  readonly existing_id?: number | undefined;
}

export function replyWithData<Data extends object>(
  data: Data,
): SuccessReply<{ readonly data: Data }> {
  return { status: 200, body: { success: true, data } };
}

/** Fields that the JSON of every record has. */
interface RecordJson {
  readonly id: number;
  readonly etag: string;
}

export function replyWithRecord<Data extends RecordJson>(data: Data) {
  return { ...replyWithData(data), headers: { etag: data.etag } };
}

export function replyWithList<Data extends object>(
  data: readonly Data[],
): SuccessReply<{ readonly data: readonly Data[]; readonly count: number }> {
  return { status: 200, body: { success: true, data, count: data.length } };
}

export function replyWithPage<Data extends object>(data: readonly Data[], pagination: Pagination) {
  return { status: 200, body: { success: true, data, pagination: toPaginationJson(pagination) } };
}

type WriteReply<Data> = SuccessReply<{ readonly data: Data; readonly message: string }>;

/** @param path the path of the request; the record's address is this path and the id */
export function replyCreated<Data extends RecordJson>(
  data: Data,
  message: string,
  path: string,
): WriteReply<Data> {
  const location = `${path.replace(/\/$/, '')}/${data.id}`;
  const body = { success: true, data, message };
  return { status: 201, body, headers: { etag: data.etag, location } };
}

/** @param data a record with an ETag, or other data without */
export function replyUpdated<Data extends object>(data: Data, message: string): WriteReply<Data> {
  const headers = 'etag' in data ? { etag: String(data.etag) } : {};
  return { status: 200, body: { success: true, data, message }, headers };
}

export function replyDeleted(message: string): SuccessReply<{ readonly message: string }> {
  return { status: 200, body: { success: true, message } };
}

export function replyToPreflight(): SuccessReply<object> {
  return { status: 200, body: { success: true } };
}

export function replyWithFailure(status: number, failure: Failure): Reply {
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
