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

// A store before quotas tells a full disk as a fault of its own, which would pass for one that goes away.
const EXHAUSTED = /no space left|out of memory|disk (is )?full|not enough (disk )?space/i;

/** The error a reply stands for that is none of the successes. Reads the body. */
export async function toFailure(call: string, reply: Response): Promise<Error> {
  const { status, headers } = reply;
  const reason = reasonIn(await reply.text());
  const message = `${call}: ${status} ${sayable(reason, call)}`.trim();
  if (status === 401 || status === 403) return new VectorStoreAccessDeniedError(message);
  if (status === 507 || (status === 500 && EXHAUSTED.test(reason)))
    return new VectorStoreFullError(message);
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

const LONGEST_REASON = 300;
const OWN_WORDS = new Set(['user_id', 'agent_id', 'run_id', 'actor_id', 'bm25', 'keyword']);
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;

// What a store quotes may be of a memory: only what the call names anyway is told, and no more than can be read.
function sayable(reason: string, call: string): string {
  const isOurs = (words: string) => OWN_WORDS.has(words) || call.includes(words);
  const quoteless = reason
    .replace(/(["`])([\s\S]*?)(?:\1|$)/g, (quoted, _, words: string) =>
      isOurs(words) ? quoted : '…',
    )
    .replace(/(?<!\w)'(.*?)'(?!\w)/g, (quoted, words: string) => (isOurs(words) ? quoted : '…'))
    .replace(UUID, (id) => (isOurs(id) ? id : '…'));
  return quoteless.length > LONGEST_REASON ? `${quoteless.slice(0, LONGEST_REASON)}…` : quoteless;
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
