// A proxy on loopback that forwards every request, and loses the first response to each request that changes something.
import { request as send } from 'node:http';
import { listenInTest } from '../../shared/support/loopback.ts';

interface LosingProxy {
  readonly url: string;
  /** How often each kind of change was carried out. */
  readonly changes: ReadonlyMap<string, number>;
  /** How many responses were lost. */
  lost(): number;
}

/** @param nameChange returns the kind of change that a request makes; undefined if the request only reads */
export async function startLosingProxy(
  target: string,
  nameChange: (request: string) => string | undefined,
  { losesResponses }: { readonly losesResponses: boolean },
): Promise<LosingProxy> {
  const changes = new Map<string, number>();
  const lostRequests = new Set<string>();
  let lost = 0;

  const url = await listenInTest(async (incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const kind = nameChange(`${method} ${url}`);
    const body = Buffer.concat(await Array.fromAsync<Buffer>(incoming));
    const upstream = send(`${target}${url}`, { method, headers }, async (reply) => {
      const content = Buffer.concat(await Array.fromAsync<Buffer>(reply));
      if (kind !== undefined) changes.set(kind, (changes.get(kind) ?? 0) + 1);
      // The key leaves out the body of a form, because its boundary differs each time.
      const key = `${method} ${url} ${url.includes('/upload') ? '' : body.toString('base64')}`;
      if (losesResponses && kind !== undefined && !lostRequests.has(key)) {
        lostRequests.add(key);
        lost += 1;
        incoming.socket.destroy();
        return;
      }
      response.writeHead(reply.statusCode ?? 500, reply.headers).end(content);
    });
    upstream.on('error', () => incoming.socket.destroy());
    upstream.end(body);
  });

  return { url, changes, lost: () => lost };
}
