// A proxy in front of the database that records each call and can leave calls unanswered.
import { buffer } from 'node:stream/consumers';
import { listen } from './loopback.ts';

export async function openDatabaseProxy(database: string) {
  const calls: string[] = [];
  let mustHold = () => false;
  const { url, close } = await listen(async (request, response) => {
    const body = await buffer(request);
    calls.push(String(request.headers['x-amz-target']));
    if (mustHold()) return;
    const { host, connection, 'content-length': _, ...headers } = request.headers;
    const sent = { method: 'POST', headers: headers as Record<string, string>, body };
    const answer = await fetch(database, sent);
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    calls,
    endpoint: url,
    holdWhile(condition: () => boolean): void {
      mustHold = condition;
    },
    close,
  };
}
