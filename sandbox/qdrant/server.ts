// A Qdrant-compatible server for rehearsals and tests, on loopback. It serves only the calls that this project makes.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFetch } from '../fetch-from-listener.ts';
import { type Background, createBackground } from './background.ts';
import type { Call } from './call.ts';
import { beginOptimization } from './collection.ts';
import { createFaults, type Effect, type Fault } from './faults.ts';
import { type FolderImage, readFolder, writeFolder } from './folder-image.ts';
import { Refusal } from './refusal.ts';
import { createRegistry, type Registry } from './registry.ts';
import { sendFailure, sendResult } from './replies.ts';
import { createRouter, type Match } from './routes.ts';
import { createSnapshotFolder } from './snapshot-folder.ts';
import { DEFAULT_VERSION } from './versions.ts';

export interface QdrantSandboxOptions {
  /** Version that the sandbox behaves like; DEFAULT_VERSION by default */
  readonly version?: string;
  /** Without a key, every request is allowed. */
  readonly apiKey?: string;
  /** Behaves like a server that keeps snapshots in object storage; by default, like one that keeps them in its own files. */
  readonly keepsSnapshotsInObjectStorage?: boolean;
  /** Largest body that is accepted; 32 MB by default, like a real server. */
  readonly maxBodyBytes?: number;
  /** Any free port by default. */
  readonly port?: number;
  readonly now?: () => Date;
  /** Initial contents; empty by default. */
  readonly image?: QdrantImage | undefined;
}

/** All collections, aliases and snapshots of a sandbox, from which another sandbox can start. */
export interface QdrantImage {
  readonly registry: Registry;
  readonly files: FolderImage;
}

export interface QdrantSandbox {
  readonly url: string;
  /** Calls the server in this process, without the network. */
  readonly fetch: typeof fetch;
  fault(fault: Fault): void;
  /** Begins an optimization of the collection. @returns a function that ends the optimization */
  optimize(collection: string): () => void;
  /** Resolves when no snapshot is being created, removed or restored in the background. */
  waitUntilIdle(): Promise<void>;
  image(): Promise<QdrantImage>;
  /** Refuses further requests, breaks open connections and removes the sandbox's files. */
  close(): Promise<void>;
}

const STREAMED_UPLOAD = /\/snapshots\/upload$/;

export async function startQdrantSandbox(
  options: QdrantSandboxOptions = {},
): Promise<QdrantSandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'qdrant-sandbox-'));
  const faults = createFaults();
  await writeFolder(folder, options.image?.files ?? new Map());
  const registry = options.image?.registry.copy() ?? createRegistry();
  const background = createBackground();
  const { now = () => new Date() } = options;
  const handleRequest = createRequestHandler({ folder, registry, background }, { ...options, now });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!server.listening) return void response.destroy();
    const request = `${incoming.method} ${incoming.url}`;
    response.setHeader('date', now().toUTCString());
    if (applyEffect(faults.consumeEffect(request, 'before'), response)) return;
    const outcome = await handleRequest(incoming).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (applyEffect(faults.consumeEffect(request, 'after'), response)) return;
    if ('error' in outcome) sendFailure(response, outcome.error);
    // A client that disconnects in the middle of a file is not a failure of the server.
    else await sendResult(incoming, response, outcome.value).catch(() => response.destroy());
  }

  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    fetch: createFetch(handle),
    fault: faults.add,
    optimize: (collection) => beginOptimization(registry.get(collection)),
    waitUntilIdle: background.waitUntilIdle,
    async image() {
      await background.waitUntilIdle();
      return { registry: registry.copy(), files: await readFolder(folder) };
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await background.waitUntilIdle();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function createRequestHandler(
  parts: { readonly folder: string; readonly registry: Registry; readonly background: Background },
  options: QdrantSandboxOptions & { readonly now: () => Date },
) {
  const { folder, registry, background } = parts;
  const { version = DEFAULT_VERSION, now, maxBodyBytes = 32 * 1024 * 1024 } = options;
  const { keepsSnapshotsInObjectStorage: isObjectStorage = false } = options;
  const peerId = '7431927411890327';
  const snapshots = createSnapshotFolder({
    folder,
    version,
    peerId,
    isObjectStorage,
    now,
  });
  const route = createRouter({ version, registry, snapshots, background });

  return async (incoming: IncomingMessage): Promise<unknown> => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://sandbox');
    const match = route(incoming.method ?? 'GET', pathname);
    checkKey(options, incoming, match);
    if (!match) throw new Refusal(404, '', { plain: true });
    const body = STREAMED_UPLOAD.test(pathname) ? '' : await readBody(incoming, maxBodyBytes);
    const call: Call = { path: match.path, query: searchParams, body, incoming };
    return match.handler(call);
  };
}

function checkKey(
  { apiKey }: QdrantSandboxOptions,
  { headers }: IncomingMessage,
  match?: Match,
): void {
  if (apiKey === undefined || match?.isOpen) return;
  const sentKey = headers['api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (sentKey === undefined) {
    const reason = 'Must provide an API key or an Authorization bearer token';
    throw new Refusal(401, reason, { plain: true });
  }
  if (sentKey === apiKey) return;
  throw new Refusal(401, 'Invalid API key or JWT', { plain: true });
}

async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks = await Array.fromAsync<Buffer>(incoming);
  const body = Buffer.concat(chunks);
  if (body.length > maxBytes) {
    const sizes = `(${body.length} bytes) is larger than allowed (limit: ${maxBytes} bytes)`;
    throw new Refusal(400, `Payload error: JSON payload ${sizes}.`);
  }
  return body.toString();
}

/** Applies the effect of a fault. @returns true if it replaced the response */
function applyEffect(effect: Effect | undefined, response: ServerResponse): boolean {
  if (!effect) return false;
  if (effect.kind === 'drop') response.destroy();
  else response.writeHead(effect.status, effect.headers).end(effect.body);
  return true;
}
