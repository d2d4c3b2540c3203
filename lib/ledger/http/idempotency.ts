// The Idempotency-Key header of requests that create a record, and of bulk requests. A replay has the status, body and ETag of
// the first response, and the header `Idempotent-Replayed: true`.
import { ValidationError } from '../errors.ts';
import type { KeyedRequest, RememberReply } from '../service/idempotency.ts';
import type { LedgerEvent } from './endpoint.ts';
import type { JsonObject } from './json-body.ts';
import type { Reply } from './replies.ts';

export type WriteEvent = LedgerEvent & { readonly json: JsonObject };

// Accepts a bare value, as most APIs do, or the quoted string of the IETF draft.
export const IDEMPOTENCY_KEY =
  /^(?:"([\x20-\x21\x23-\x7e]{1,255})"|([\x21\x23-\x7e][\x20-\x7e]{0,254}))$/;

/**
 * @param create creates the record and the reply. Commits the record together with the writes that `remember` returns for the
 * reply
 */
export function makeIdempotent<Event extends WriteEvent, Body extends Reply['body']>(
  create: (event: Event, remember: RememberReply) => Promise<Reply<Body>>,
): (event: Event) => Promise<Reply<Body>> {
  return async (event) => {
    const { reply, isReplayed } = await event.ledger.idempotency.applyOnce(
      readKeyedRequest(event),
      (remember) => create(event, remember),
    );
    // A replayed reply also came from `create`, so it has the same type.
    return (isReplayed ? markReplayed(reply) : reply) as Reply<Body>;
  };
}

export function markReplayed<Body extends object>(reply: Reply<Body>): Reply<Body> {
  return { ...reply, headers: { ...reply.headers, 'idempotent-replayed': 'true' } };
}

/**
 * Reads the idempotency key, and the parts of the request that the key is bound to; undefined without a key.
 * @throws ValidationError
 */
export function readKeyedRequest(event: WriteEvent): KeyedRequest | undefined {
  const { headers, requestContext, json: body } = event;
  const headerValue = headers['idempotency-key'];
  if (headerValue === undefined) return undefined;
  const [, quotedKey, bareKey] = IDEMPOTENCY_KEY.exec(headerValue) ?? [];
  const key = quotedKey ?? bareKey;
  if (key === undefined) {
    throw new ValidationError('Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  const { method, path } = requestContext.http;
  return { operation: `${method} ${path.replace(/\/$/, '')}`, key, body };
}
