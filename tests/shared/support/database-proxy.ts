// A proxy in front of the database that records each call, and can withhold responses.
import { buffer } from 'node:stream/consumers';
import { listen } from './loopback.ts';

export async function openDatabaseProxy(database: string) {
  const calls: string[] = [];
  let mustWithhold = () => false;
  const { url, close } = await listen(async (request, response) => {
    const body = await buffer(request);
    calls.push(String(request.headers['x-amz-target']));
    if (mustWithhold()) return;
    const { host, connection, 'content-length': _, ...headers } = request.headers;
    const forwarded = { method: 'POST', headers: headers as Record<string, string>, body };
    const databaseResponse = await fetch(database, forwarded);
    response.writeHead(databaseResponse.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(Buffer.from(await databaseResponse.arrayBuffer()));
  });
  return {
    calls,
    endpoint: url,
    withholdWhile(condition: () => boolean): void {
      mustWithhold = condition;
    },
    close,
  };
}
