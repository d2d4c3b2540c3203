// Sends the requests of the page. The API key is kept in this tab's session, or on this device if the person chose that, and is
// sent only to this service.

import type { Failure } from '../../lib/ledger/http/api-types.ts';
import { ApiError, type Call } from './api-error.ts';
import { deviceStorage, tabStorage } from './storage.ts';

const STORED_KEY = 'api-key';
const TIMEOUT_MS = 20_000;
const MAX_KEEPALIVE_LENGTH = 30_000;

const readStored = () =>
  tabStorage.getItem(STORED_KEY) ?? deviceStorage.getItem(STORED_KEY) ?? undefined;

interface KeyOptions {
  /** True to keep the key on this device, false to keep it only in this tab. */
  readonly isOnDevice: boolean;
}

interface KeyState {
  readonly key: string | undefined;
  /** False if the storage is full or denied: only this page has the key. */
  readonly isStored: boolean;
  readonly isForgotten: boolean;
}

/** This tab's key, read once: another tab may meanwhile store the key of another ledger on this device. */
let keyState: KeyState | undefined;

function readKeyState(): KeyState {
  if (keyState) return keyState;
  const key = readStored();
  keyState = { key, isStored: key !== undefined, isForgotten: false };
  return keyState;
}

export const storedKey = {
  read: () => readKeyState().key,
  /** Uses the key from now on. */
  write: (key: string, options: KeyOptions) => {
    keyState = { key, isStored: storedKey.storeForReload(key, options), isForgotten: false };
  },
  /** Stores a key that the page uses only after a reload. @returns false if it cannot be stored */
  storeForReload: (key: string, { isOnDevice }: KeyOptions) => {
    tabStorage.removeItem(STORED_KEY);
    return (isOnDevice ? deviceStorage : tabStorage).setItem(STORED_KEY, key);
  },
  forget: () => {
    keyState = { key: undefined, isStored: false, isForgotten: true };
    tabStorage.removeItem(STORED_KEY);
    deviceStorage.removeItem(STORED_KEY);
  },
  /** Forgets the key that the service refused, but not a different key that another tab stored on this device. */
  forgetRefused: () => {
    const { key } = readKeyState();
    keyState = { key: undefined, isStored: false, isForgotten: true };
    for (const storage of [tabStorage, deviceStorage])
      if (storage.getItem(STORED_KEY) === key) storage.removeItem(STORED_KEY);
  },
  /** True if another tab has replaced or forgotten the key that this tab uses. */
  isReplaced: () => readKeyState().isStored && readStored() !== readKeyState().key,
};

/**
 * @param path with its query, such as `/summary?type=income`
 * @throws ApiError
 */
export async function call<Body>(path: string, request: Call = {}): Promise<Body> {
  const { signal } = request;
  // Without a key, work that is still under way would continue in the ledger of callers that have none.
  const { key, isForgotten } = readKeyState();
  if (isForgotten && !request.headers?.authorization)
    throw new ApiError('The key was forgotten.', { status: 401, isRetryable: false });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(path, {
    ...fetchOptions(request),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  }).catch((error) => {
    signal?.throwIfAborted();
    throw new ApiError(`The service cannot be reached (${error.message}).`);
  });
  const hasKeyChanged = key !== readKeyState().key && !readKeyState().isForgotten;
  if (response.status === 401 && hasKeyChanged)
    throw new ApiError('The key was changed meanwhile.');
  return await readResponse(response, signal);
}

/** @throws ApiError for a refusal, and for a response that is cut off, which leaves open whether the request was applied */
export async function readResponse<Body>(response: Response, signal?: AbortSignal): Promise<Body> {
  const body: unknown = await response.json().catch(() => undefined);
  const isObject = typeof body === 'object' && body !== null;
  if (response.ok && isObject) return withEtag(body, response) as Body;
  signal?.throwIfAborted();
  if (response.ok) throw new ApiError('The response of the service was cut off.');
  throw readFailure(response, isObject ? body : {});
}

function fetchOptions({ method = 'GET', body, headers = {} }: Call): RequestInit {
  const key = storedKey.read();
  const text = body && JSON.stringify(body);
  return {
    method,
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(text && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text && { body: text }),
    // Lets the browser finish a write after the page is left. Browsers limit the size of such a request.
    keepalive: method !== 'GET' && (text?.length ?? 0) < MAX_KEEPALIVE_LENGTH,
  };
}

/** Copies the ETag header of a response about one record into the record. */
function withEtag(body: object, response: Response): object {
  const etag = response.headers.get('etag');
  const { data } = body as { readonly data?: unknown };
  const isRecord = typeof data === 'object' && data !== null && 'id' in data;
  return etag && isRecord ? { ...body, data: { ...data, etag } } : body;
}

function readFailure(response: Response, body: Partial<Failure>): ApiError {
  const { status, headers } = response;
  const { message = 'no reason', details = {} } = body;
  const sentences = Object.entries(details).map(([name, each]) => `${name}: ${each.join(' ')}`);
  return new ApiError(`The service answered ${status}: ${[message, ...sentences].join('. ')}`, {
    ...body,
    status,
    requestId: headers.get('x-request-id') ?? '',
    isRetryable: status >= 500 || status === 429 || (status === 409 && headers.has('retry-after')),
  });
}

/** Appends the parameters that have a value to the path. */
export function pathWith(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const sentParameters = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(
    sentParameters.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return sentParameters.length === 0 ? path : `${path}?${query}`;
}

/** True if a header can carry the key. */
export function isSendable(key: string): boolean {
  return /^[!-~]{1,4096}$/.test(key);
}
