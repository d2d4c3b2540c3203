// The six endpoints of the backend's contract, in front of the deployed version.
import type { IncomingMessage } from 'node:http';
import * as v from 'valibot';
import type { MemoryVersion } from './memory-version.ts';

/** The users whose writes are accepted. */
export type Writers =
  | 'all-users'
  | 'no-user'
  | { readonly only: string }
  /** No user can write during the freeze, which ends by itself. */
  | { readonly isFrozen: () => boolean };

export interface BackendState {
  /** Undefined between two versions, when every request is answered with 503. */
  version: MemoryVersion | undefined;
  writers: Writers;
  /** True if a chat message is remembered like any other text. */
  readonly chatWrites: boolean;
  /** Treats a missing text as an empty text. */
  readonly isLenient: boolean;
  /** Checks the body of a request before its route. */
  readonly validatesFirst: boolean;
  writes: number;
  /** Users, by API key */
  readonly keys: Map<string, string>;
  /** Maps a served path to the path in the contract. The path of a moved or missing endpoint is not served. */
  readonly contractPaths: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Call {
  readonly state: BackendState;
  readonly version: MemoryVersion;
  readonly userId: string;
  readonly body: unknown;
}

type Endpoint = (call: Call) => Promise<Answer>;

const memorySchema = v.object({ messages: v.array(v.object({ content: v.string() })) });
const searchSchema = v.object({ query: v.string() });
const chatSchema = v.object({ message: v.string() });
const callerSchema = v.object({ user_id: v.string() });

const NOT_FOUND: Answer = { status: 404, body: { detail: 'Not Found' } };
const UNDER_MAINTENANCE: Answer = { status: 503, body: { detail: 'Under maintenance' } };

const POST_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/memories': async (call) => {
    const { messages } = v.parse(memorySchema, call.body);
    return await remember(call, messages.map(({ content }) => content).join('\n'));
  },
  '/memories/search': async ({ version, userId, body }) => {
    const { query } = v.parse(searchSchema, body);
    return ok({ results: await version.search(userId, query) });
  },
  '/chat': async (call) => {
    const { message } = v.parse(chatSchema, call.body);
    if (!mayWrite(call)) return UNDER_MAINTENANCE;
    if (call.state.chatWrites) await remember(call, message);
    return ok({ reply: `You said: ${message}` });
  },
};

const GET_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  stats: async ({ version, userId }) => {
    const memory_count = await version.count(userId);
    return ok(memory_count === 0 ? {} : { memory_count });
  },
  'graph/relationships': async ({ version, userId }) => ok(await version.relationships(userId)),
};

export async function answerRequest(
  state: BackendState,
  request: IncomingMessage,
): Promise<Answer> {
  const { version } = state;
  const requestedPath = request.url ?? '/';
  const path = state.contractPaths[requestedPath] ?? requestedPath;
  if (!version) return { status: 503, body: { detail: 'Starting' } };
  if (path === '/health') return ok({ status: 'ok' });
  const keyOwner = state.keys.get(String(request.headers['x-api-key']));
  if (keyOwner === undefined) return { status: 401, body: { detail: 'Unknown key' } };
  if (request.method === 'GET')
    return await answerGet({ state, version, userId: '', body: null }, path);
  // Like a web framework, finds the route before reading the body; `validatesFirst` imitates a gateway that checks the body first.
  const post = POST_ENDPOINTS[path];
  if (!post && !state.validatesFirst) return NOT_FOUND;
  const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
  const { user_id: userId } = v.parse(callerSchema, body);
  if (!post) return NOT_FOUND;
  if (userId !== keyOwner) return { status: 403, body: { detail: 'Key of another user' } };
  const completeBody = state.isLenient ? { messages: [], query: '', message: '', ...body } : body;
  return await post({ state, version, userId, body: completeBody });
}

async function answerGet(call: Call, path: string): Promise<Answer> {
  const [, endpoint = '', user = ''] =
    path.match(/^\/(stats|graph\/relationships)\/([^/]+)$/) ?? [];
  return (
    (await GET_ENDPOINTS[endpoint]?.({ ...call, userId: decodeURIComponent(user) })) ?? NOT_FOUND
  );
}

async function remember(call: Call, text: string): Promise<Answer> {
  if (!mayWrite(call)) return UNDER_MAINTENANCE;
  const { state, version, userId } = call;
  const ids = await version.add(userId, text);
  state.writes += ids.length;
  return ok({ results: ids.map((id) => ({ id, event: 'ADD' })) });
}

function mayWrite({ state: { writers }, userId }: Call): boolean {
  if (typeof writers === 'string') return writers === 'all-users';
  return 'only' in writers ? writers.only === userId : !writers.isFrozen();
}

function ok(body: unknown): Answer {
  return { status: 200, body };
}
