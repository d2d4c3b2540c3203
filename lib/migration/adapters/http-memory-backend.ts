// The memory backend over HTTP: the six endpoints of its contract (docs/migration/backend.md). Request bodies are those of mem0's
// own server; only documented fields of responses are read. Some endpoints may be missing, if the operator accepts that.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { countSchema } from '../json/schemas.ts';
import { isRefusal, Refusal, RetryableFailure, recoverWith } from '../refusals.ts';
import { isTestUser } from '../runs/run-names.ts';
import { requestJson } from './http.ts';
import type { Secret } from './secrets.ts';

interface BackendConnection {
  /** For example https://memory.example.org */
  readonly url: string;
  /** API key of one user */
  readonly apiKey: Secret;
  readonly timeoutMs: number;
  /** Name of the service in messages */
  readonly service?: string;
  /** Paths of endpoints that differ from the contract */
  readonly paths?: Partial<Readonly<Record<EndpointName, string>>>;
  readonly fetch?: typeof fetch;
}

export const ENDPOINTS = {
  health: { method: 'GET', path: '/health' },
  memories: { method: 'POST', path: '/memories' },
  search: { method: 'POST', path: '/memories/search' },
  chat: { method: 'POST', path: '/chat' },
  stats: { method: 'GET', path: '/stats/{user}' },
  graph: { method: 'GET', path: '/graph/relationships/{user}' },
} as const;

export type EndpointName = keyof typeof ENDPOINTS;

export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[];

/** Statuses with which a backend responds if it lacks the endpoint */
const MISSING_STATUSES: readonly unknown[] = [404, 405];

const statsSchema = v.object({ memory_count: v.optional(countSchema, 0) });
// mem0 returns ids; other backends may leave them out.
const identifiedSchema = v.object({ id: v.union([v.string(), v.number()]) });
const graphSchema = v.object({ deprecated: v.optional(v.boolean(), false) });

export type MemoryBackend = ReturnType<typeof createHttpMemoryBackend>;

export function createHttpMemoryBackend(connection: BackendConnection) {
  const { apiKey, timeoutMs, service = 'The memory backend', paths = {} } = connection;
  const root = connection.url.replace(/\/+$/, '');

  function choosePath(endpoint: EndpointName): string {
    return paths[endpoint] ?? ENDPOINTS[endpoint].path;
  }

  async function send(method: Method, path: string, { userId = '', body }: BackendRequest = {}) {
    // Messages must not contain the user's id.
    const shownPath = path.replace('/{user}', '');
    const headers = { 'x-api-key': apiKey.reveal() };
    const url = `${root}${path.replace('{user}', encodeURIComponent(userId))}`;
    const name = `${service}: ${method} ${shownPath}`;
    const request = { name, method, url, headers, body: JSON.stringify(body) };
    const response = await requestJson(request, timeoutMs, connection.fetch);
    assertAccepted(`${service}: ${shownPath}`, response.status, userId);
    return response;
  }

  function call(endpoint: EndpointName, request?: BackendRequest) {
    return send(ENDPOINTS[endpoint].method, choosePath(endpoint), request);
  }

  /** @returns undefined if the backend lacks the endpoint */
  async function callIfPresent(endpoint: EndpointName, request?: BackendRequest) {
    return await call(endpoint, request).catch(recoverWith(undefined, isMissing));
  }

  /** @throws RetryableFailure while the backend is not healthy */
  async function health(): Promise<void> {
    await callIfPresent('health');
  }

  /** Sends one chat message, which may add memories like a user's message. */
  async function chat(userId: string, message: string): Promise<void> {
    await callIfPresent('chat', { userId, body: { user_id: userId, message } });
  }

  /** The backend decides what it stores for the text: one memory, several, or none. */
  async function addMemory(userId: string, text: string): Promise<void> {
    const messages = [{ role: 'user', content: text }];
    await call('memories', { userId, body: { user_id: userId, messages } });
  }

  /**
   * Finds the missing endpoints, and those that respond like an unknown path. The request's body is valid JSON, because some
   * backends parse it before they choose a route. It is an empty list, without user and text: even a backend that validates
   * nothing writes nothing.
   * @throws Refusal for a wrong key; RetryableFailure without a response
   */
  async function findMissing(userId: string): Promise<MissingEndpoints> {
    const probe = (method: Method, path: string) =>
      send(method, path, { userId, body: method === 'POST' ? [] : undefined }).then(
        ({ status }) => status,
        readStatus,
      );
    const unknownPath = `/${randomUUID()}`;
    const unknownStatus = {
      GET: await probe('GET', unknownPath),
      POST: await probe('POST', unknownPath),
    };
    const missing: Endpoint[] = [];
    const undetermined: Endpoint[] = [];
    for (const name of ENDPOINT_NAMES) {
      const { method } = ENDPOINTS[name];
      const status = await probe(method, choosePath(name));
      const endpoint = { name, request: `${method} ${choosePath(name)}`, status };
      if (MISSING_STATUSES.includes(status)) missing.push(endpoint);
      else if (status === unknownStatus[method]) undetermined.push(endpoint);
    }
    return { missing, undetermined };
  }

  async function searchMemories(userId: string, query: string): Promise<readonly unknown[]> {
    const { body } = await call('search', { userId, body: { user_id: userId, query } });
    return findList(body);
  }

  /** @returns the number of memories found */
  async function search(userId: string, query: string): Promise<number> {
    return (await searchMemories(userId, query)).length;
  }

  /** @returns the id of the best match; undefined if no memory is found, or the backend returns no ids */
  async function findBestMatch(
    userId: string,
    query: string,
  ): Promise<string | number | undefined> {
    const [first] = await searchMemories(userId, query);
    return v.is(identifiedSchema, first) ? first.id : undefined;
  }

  /** Counts the user's memories; some versions of mem0 limit the count. @returns 0 if the backend does not count memories */
  async function countMemories(userId: string): Promise<number> {
    const response = await callIfPresent('stats', { userId });
    return response ? parseExpected(statsSchema, '/stats', response.body).memory_count : 0;
  }

  /** True if the backend reports that its relationship graph is deprecated, as the new version does. */
  async function isGraphDeprecated(userId: string): Promise<boolean> {
    const { body } = await call('graph', { userId });
    return parseExpected(graphSchema, '/graph/relationships', body).deprecated;
  }

  return {
    ...{ health, chat, addMemory, search, findBestMatch, countMemories, isGraphDeprecated },
    findMissing,
  };
}

interface BackendRequest {
  readonly userId?: string;
  readonly body?: unknown;
}

type Method = (typeof ENDPOINTS)[EndpointName]['method'];

export interface Endpoint {
  readonly name: EndpointName;
  readonly request: string;
  readonly status: number;
}

interface MissingEndpoints {
  readonly missing: readonly Endpoint[];
  /** Endpoints that may be missing: an unknown path gets the same status. */
  readonly undetermined: readonly Endpoint[];
}

function isMissing(failure: unknown): boolean {
  return failure instanceof Refusal && MISSING_STATUSES.includes(failure.code);
}

/** Status of an unsuccessful response. @throws the failure of a request without a response, or with a wrong key */
function readStatus(failure: unknown): number {
  if (isRefusal(failure, 'RefusedKeyOfOtherUser')) return 403;
  const isResponse = failure instanceof RetryableFailure || isRefusal(failure, 'RefusedByService');
  if (isResponse && typeof failure.code === 'number') return failure.code;
  throw failure;
}

// A valid key of another user is the most common mistake, so it has its own refusal.
function assertAccepted(endpoint: string, status: number, userId = ''): void {
  if (status === 401) throw new Refusal('RefusedCredentials', `${endpoint} answered 401.`);
  if (status === 403) {
    const whom = isTestUser(userId) ? userId : 'a user other than that of the key';
    throw new Refusal('RefusedKeyOfOtherUser', `${endpoint} answered 403 for ${whom}.`);
  }
  if (status < 200 || status > 299) {
    throw new Refusal('RefusedByService', `${endpoint} answered ${status}.`, { code: status });
  }
}

// mem0 returns {"results": [...]}; older versions of mem0, and some backends, return the list itself.
function findList(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  const list = Object.values(body ?? {}).find(Array.isArray);
  if (!list) throw new Refusal('RefusedByService', 'The response to a search has no list.');
  return list;
}

function parseExpected<Output>(
  schema: v.GenericSchema<unknown, Output>,
  endpoint: string,
  body: unknown,
): Output {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw new Refusal('RefusedByService', `The response of ${endpoint} is not as documented.`);
}
