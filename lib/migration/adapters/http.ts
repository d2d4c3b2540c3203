// Sends one HTTP request to a service of the migration. The type of a failure says whether a retry can help.
import { Refusal, RetryableFailure } from '../refusals.ts';

export interface HttpCall {
  readonly url: string;
  /** Service and operation, for messages, which must not show the URL: it may contain secrets. */
  readonly name: string;
}

interface HttpRequest extends HttpCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON */
  readonly body?: string | undefined;
}

/** Statuses after which a retry may succeed; all others from 400 up are refusals. */
export const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns any response, with its body unread. @throws RetryableFailure without a response */
export async function send(
  { url, name, method, body, ...request }: HttpRequest,
  signal: AbortSignal,
  fetchWith = fetch,
): Promise<Response> {
  const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...request.headers, ...contentType };
  // Following a redirect would send the key to another host.
  const init = { method, headers, signal, redirect: 'manual', ...(body && { body }) } as const;
  return await fetchWith(url, init).catch((cause) => {
    throw toConnectionFailure({ url, name }, cause);
  });
}

/** @throws RetryableFailure if the connection breaks before the body ends */
export async function readText(response: Response, call: HttpCall): Promise<string> {
  return await response.text().catch((cause) => {
    throw toConnectionFailure(call, cause);
  });
}

/**
 * Returns any response that a retry would not change, even a refusal. `body` is undefined if the response is not JSON.
 * @throws RetryableFailure without a response, or with a transient status
 */
export async function requestJson(request: HttpRequest, timeoutMs: number, fetchWith = fetch) {
  const response = await send(request, AbortSignal.timeout(timeoutMs), fetchWith);
  const { status } = response;
  const text = await readText(response, request);
  if (!TRANSIENT_STATUSES.has(status)) return { status, body: parseOrUndefined(text) };
  const why = `${request.name}: ${status}.`;
  throw new RetryableFailure('RetryableUnavailable', why, { code: status });
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A failure without a code, such as a timeout, means that the service may have carried out the request. */
export function toConnectionFailure(
  { url, name }: HttpCall,
  cause: unknown,
): RetryableFailure | Refusal {
  const reason = describeReason(cause);
  const misconfigured = MISCONFIGURED.find(({ codes }) => codes.test(reason));
  if (misconfigured) {
    const why = `${name}: ${URL.parse(url)?.host} ${misconfigured.why} (${reason}).`;
    return new Refusal('RefusedSetting', why, { cause, code: reason });
  }
  const why = `${name}: no answer from ${URL.parse(url)?.host} (${reason}).`;
  const refused = reason === 'ECONNREFUSED' ? { code: reason } : {};
  return new RetryableFailure('RetryableUnavailable', why, { cause, ...refused });
}

/** Failures that last until the operator changes something: they are not retried. */
const MISCONFIGURED: readonly { readonly codes: RegExp; readonly why: string }[] = [
  {
    codes:
      /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_(UNTRUSTED|SIGNATURE)/,
    why: 'has a certificate that Node.js does not trust: name the file of its authority with NODE_EXTRA_CA_CERTS',
  },
  {
    codes: /^CERT_HAS_EXPIRED|^CERT_NOT_YET_VALID/,
    why: 'has a certificate that is not valid now',
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    why: 'has a certificate for another host: give the name that is in it',
  },
  {
    codes: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)/,
    why: 'does not speak https on that port: give an http address, or the https port',
  },
  {
    codes: /^HPE_INVALID_(CONSTANT|VERSION)|Expected HTTP\//,
    why: 'does not speak HTTP/1.1 on that port: for Qdrant, give the REST port (6333), not the gRPC port (6334)',
  },
];

/** An error of `fetch` says only "fetch failed"; its cause gives the reason, as a code or as a message without the path. */
function describeReason(error: unknown): string {
  const { name, code, message, cause } = error as Failure & { cause?: Failure };
  const reason = cause?.code ?? cause?.message ?? code;
  if (typeof reason === 'string') return reason;
  return name === 'Error' ? message : name;
}

type Failure = Error & { readonly code?: unknown };
