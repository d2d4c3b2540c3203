// A proxy in front of the database that breaks responses in the middle of their bodies, after the call was applied.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createDocumentClient } from '../../lib/store/document-client.ts';
import type { Client } from './store-faults.ts';
import type { VirtualTime } from './virtual-time.ts';

/** cut: the connection ends after half a body. stall: nothing follows half a body. truncate: half a body is all. */
export const BREAKS = ['cut', 'stall', 'truncate'] as const;
export type Break = (typeof BREAKS)[number];

export interface BrokenWire {
  /** A client of the database whose responses break, by the number of the call from 0. */
  createClient(
    time: VirtualTime,
    breakAt: (call: number, command: string) => Break | undefined,
  ): Client;
  close(): Promise<void>;
}

/** Says to the proxy how to break the response. */
const BREAK_HEADER = 'x-break';
const CALL_HEADER = 'x-call';

export async function openBrokenWire(database: string): Promise<BrokenWire> {
  const onStall = new Map<string, () => void>();
  const server = createServer(async (request, response) => {
    const answer = await forward(database, request);
    const body = Buffer.from(await answer.arrayBuffer());
    breakOff(request, response, { status: answer.status, body }, onStall);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createDocumentClient(`http://127.0.0.1:${port}`);
  let clients = 0;

  function createClient(
    time: VirtualTime,
    breakAt: (call: number, command: string) => Break | undefined,
  ): Client {
    clients += 1;
    const id = clients;
    let calls = 0;
    const send = async (command: Command, options: { readonly abortSignal: AbortSignal }) => {
      const call = `${id}-${calls}`;
      const how = breakAt(calls, command.constructor.name);
      calls += 1;
      if (how) addHeaders(command, { [BREAK_HEADER]: how, [CALL_HEADER]: call });
      onStall.set(call, () => time.stall(options.abortSignal));
      return await client.send(command, options);
    };
    return time.watch({ send: send as Client['send'] });
  }

  async function close(): Promise<void> {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return { createClient, close };
}

type Command = Parameters<Client['send']>[0];

function addHeaders(command: Command, added: Readonly<Record<string, string>>): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      Object.assign(headers, added);
      return await next(args);
    },
    { step: 'build', name: 'breakHeaders', override: true },
  );
}

async function forward(database: string, request: IncomingMessage): Promise<Response> {
  const { connection, host, 'content-length': _, ...headers } = request.headers;
  const body = new Uint8Array(await buffer(request));
  return await fetch(database, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body,
  });
}

function breakOff(
  { headers, socket }: IncomingMessage,
  response: ServerResponse,
  { status, body }: { readonly status: number; readonly body: Buffer },
  onStall: ReadonlyMap<string, () => void>,
): void {
  const how = headers[BREAK_HEADER];
  const half = body.subarray(0, body.length / 2);
  const sent = how === 'truncate' ? half : body;
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': sent.length,
  });
  if (how === 'cut') response.write(half, () => socket.destroy());
  else if (how === 'stall') response.write(half, onStall.get(String(headers[CALL_HEADER])));
  else response.end(sent);
}
