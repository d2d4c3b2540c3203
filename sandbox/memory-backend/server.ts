// The memory backend in a rehearsal: one address in front of the deployed version.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { createFetch } from '../fetch-from-listener.ts';
import { type Answer, answerRequest, type BackendState, type Writers } from './endpoints.ts';
import type { MemoryVersion } from './memory-version.ts';

export interface MemoryBackendSandbox {
  readonly url: string;
  /** Calls the server in this process, without the network. */
  readonly fetch: typeof fetch;
  /** Makes this version answer all later requests; without a version, the backend is unhealthy. */
  deploy(version: MemoryVersion | undefined): void;
  /** Sets whose writes are accepted; writes of all other users are answered with 503. */
  setWriters(writers: Writers): void;
  /** Allows requests with the key to act for the user. */
  grant(apiKey: string, userId: string): void;
  /** Number of memories that were written through the backend */
  writes(): number;
  close(): Promise<void>;
}

export interface MemoryBackendOptions {
  readonly chatWrites?: boolean;
  /** Treats a missing text as an empty text. */
  readonly isLenient?: boolean;
  /** Checks the body of a request before its route, as a gateway may. */
  readonly validatesFirst?: boolean;
  /** Served path of each endpoint that differs from the contract, by the contract's path; `''` if the endpoint is missing. */
  readonly paths?: Readonly<Record<string, string>>;
}

export async function startMemoryBackendSandbox({
  chatWrites = false,
  isLenient = false,
  validatesFirst = false,
  paths = {},
}: MemoryBackendOptions = {}): Promise<MemoryBackendSandbox> {
  const differingPaths = Object.entries(paths);
  const state: BackendState = {
    version: undefined,
    writers: 'all-users',
    chatWrites,
    isLenient,
    validatesFirst,
    writes: 0,
    keys: new Map(),
    contractPaths: Object.fromEntries([
      ...differingPaths.map(([path]) => [path, '/nowhere']),
      ...differingPaths.map(([path, servedPath]) => [servedPath, path]),
    ]),
  };
  function handle(request: IncomingMessage, response: ServerResponse): void {
    answerRequest(state, request).then(
      (answer) => send(response, answer),
      (error: unknown) =>
        send(response, {
          status: v.isValiError(error) ? 422 : 500,
          body: { detail: String(error) },
        }),
    );
  }

  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    fetch: createFetch(handle),
    deploy(version) {
      state.version = version;
    },
    setWriters(writers) {
      state.writers = writers;
    },
    grant(apiKey, userId) {
      state.keys.set(apiKey, userId);
    },
    writes: () => state.writes,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
