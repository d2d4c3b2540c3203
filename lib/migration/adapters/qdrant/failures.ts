// Qdrant's refusals and failures, by status, as the named errors of the port.
import {
  UnexpectedReplyError,
  VectorStoreAccessDeniedError,
  VectorStoreBodyTooLargeError,
  VectorStoreFullError,
  VectorStoreRefusedError,
  VectorStoreUnavailableError,
} from '../../ports/vector-store-errors.ts';

// 409 to 422 and their like are refusals; these pass by themselves.
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** The error a reply stands for that is none of the successes. Reads the body. */
export async function toFailure(call: string, reply: Response): Promise<Error> {
  const { status, headers } = reply;
  const reason = reasonIn(await reply.text());
  const message = `${call}: ${status} ${reason}`.trim();
  if (status === 401 || status === 403) return new VectorStoreAccessDeniedError(message);
  if (status === 507) return new VectorStoreFullError(message);
  if (PASSING.has(status)) {
    return new VectorStoreUnavailableError(message, { retryAfterMs: retryAfter(headers) });
  }
  if (status === 413 || /larger than allowed/i.test(reason)) {
    return new VectorStoreBodyTooLargeError(message);
  }
  return status >= 400 && status < 500
    ? new VectorStoreRefusedError(message, status)
    : new UnexpectedReplyError(message);
}

/** The socket broke, or time was up. */
export function toUnavailable(call: string, cause: unknown): VectorStoreUnavailableError {
  return new VectorStoreUnavailableError(`${call}: no answer`, { cause });
}

// `{"status":{"error":"text"}}`, except that the key check and missing files answer in plain text.
function reasonIn(body: string): string {
  try {
    const { status } = JSON.parse(body) as { status?: { error?: unknown } };
    return String(status?.error ?? body);
  } catch {
    return body;
  }
}

function retryAfter(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}
