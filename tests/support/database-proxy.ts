// The database at another address, which notes each call and may leave one without an answer.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export async function openDatabaseProxy(database: string) {
  const calls: string[] = [];
  let isHeld = () => false;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    calls.push(String(request.headers['x-amz-target']));
    if (isHeld()) return;
    const { host, connection, 'content-length': _, ...headers } = request.headers;
    const sent = { method: 'POST', headers: headers as Record<string, string>, body };
    const answer = await fetch(database, sent);
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    calls,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdAt(condition: () => boolean): void {
      isHeld = condition;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
