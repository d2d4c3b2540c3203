// The memory backend over HTTP: the six endpoints of its contract, and no other. The contract names paths, a header
// and two fields; request bodies are those of mem0's own server, and of answers nothing is read but what the document names.
import * as v from 'valibot';
import { countSchema } from '../json/schemas.ts';
import { Refusal } from '../refusals.ts';
import { isTestUser } from '../runs/run-names.ts';
import { requestJson } from './http.ts';
import type { Secret } from './secrets.ts';

interface BackendConnection {
  /** Such as https://memory.example.org */
  readonly url: string;
  /** Maps to one user. */
  readonly apiKey: Secret;
  readonly timeoutMs: number;
  /** Name of the service in messages */
  readonly service?: string;
}

const statsSchema = v.object({ memory_count: v.optional(countSchema, 0) });
// mem0 returns ids; a backend that leaves them out gets no requests by id.
const identifiedSchema = v.object({ id: v.union([v.string(), v.number()]) });
const graphSchema = v.object({ deprecated: v.optional(v.boolean(), false) });

export type MemoryBackend = ReturnType<typeof createHttpMemoryBackend>;

export function createHttpMemoryBackend(connection: BackendConnection) {
  const { apiKey, timeoutMs, service = 'The memory backend' } = connection;
  const root = connection.url.replace(/\/+$/, '');

  // The endpoint stands for the path in messages: the path may hold a user's id.
  async function call(endpoint: string, { path = endpoint, userId, body }: Asked = {}) {
    const method = body === undefined ? 'GET' : 'POST';
    const name = `${service}: ${method} ${endpoint}`;
    const headers = { 'x-api-key': apiKey.reveal() };
    const request = { name, method, url: `${root}${path}`, headers, body: JSON.stringify(body) };
    const reply = await requestJson(request, timeoutMs);
    assertAccepted(`${service}: ${endpoint}`, reply.status, userId);
    return reply;
  }

  /** @throws RetryableFailure while it is not healthy */
  async function health(): Promise<void> {
    await call('/health');
  }

  /** One round trip; it may write memories, as may any other chat. */
  async function chat(userId: string, message: string): Promise<void> {
    await call('/chat', { userId, body: { user_id: userId, message } });
  }

  /** The backend decides what it stores for the text: one memory, several, or none. */
  async function addMemory(userId: string, text: string): Promise<void> {
    const messages = [{ role: 'user', content: text }];
    await call('/memories', { userId, body: { user_id: userId, messages } });
  }

  async function found(userId: string, query: string): Promise<readonly unknown[]> {
    const { body } = await call('/memories/search', { userId, body: { user_id: userId, query } });
    return listIn(body);
  }

  /** How many memories it found. */
  async function search(userId: string, query: string): Promise<number> {
    return (await found(userId, query)).length;
  }

  /** Id of what it finds first; undefined where it finds nothing, or does not tell ids. */
  async function bestMatch(userId: string, query: string): Promise<string | number | undefined> {
    const [first] = await found(userId, query);
    return v.is(identifiedSchema, first) ? first.id : undefined;
  }

  /** Versions of the backend cap the number. 0 when the backend gives none. */
  async function memoryCount(userId: string): Promise<number> {
    const { body } = await call('/stats', { userId, path: `/stats/${encodeURIComponent(userId)}` });
    return expected(statsSchema, '/stats', body).memory_count;
  }

  /** True if the backend reports its relationship graph as deprecated, as the new version does. */
  async function isGraphDeprecated(userId: string): Promise<boolean> {
    const path = `/graph/relationships/${encodeURIComponent(userId)}`;
    const { body } = await call('/graph/relationships', { userId, path });
    return expected(graphSchema, '/graph/relationships', body).deprecated;
  }

  return { health, chat, addMemory, search, bestMatch, memoryCount, isGraphDeprecated };
}

interface Asked {
  readonly path?: string;
  readonly userId?: string;
  readonly body?: unknown;
}

// A valid key of another user gets a message of its own: it is the most common mistake.
function assertAccepted(endpoint: string, status: number, userId = ''): void {
  if (status === 401) throw new Refusal('RefusedCredentials', `${endpoint} answered 401.`);
  if (status === 403) {
    const whom = isTestUser(userId) ? userId : 'another user than that of the key';
    throw new Refusal('RefusedKeyOfOtherUser', `${endpoint} answered 403 for ${whom}.`);
  }
  if (status < 200 || status > 299) {
    throw new Refusal('RefusedByService', `${endpoint} answered ${status}.`, {
      answer: status,
    });
  }
}

// mem0 answers {"results": [...]}; older versions, and some backends, answer the list itself.
function listIn(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  const list = Object.values(body ?? {}).find(Array.isArray);
  if (!list) throw new Refusal('RefusedByService', 'An answer to a search has no list.');
  return list;
}

function expected<Output>(
  schema: v.GenericSchema<unknown, Output>,
  endpoint: string,
  body: unknown,
): Output {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw new Refusal('RefusedByService', `${endpoint} answered something else than documented.`);
}
