// The service in this process behind a port of the loopback address, for programs that speak HTTP.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApiClient } from './api-client.ts';

/** @param api is asked again for each request, so that a test can change it */
export async function serve(api: () => ApiClient) {
  const server = createServer(async (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const rawBody = await text(request);
    const headers = request.headers as Record<string, string>;
    const reply = await api().request(request.method ?? '', path, {
      ...{ query, headers },
      ...(rawBody && { rawBody }),
    });
    response.writeHead(reply.status, reply.headers as Record<string, string>).end(reply.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
