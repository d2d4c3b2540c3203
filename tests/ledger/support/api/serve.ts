// Serves the in-process service on a loopback port, for programs that speak HTTP.
import { text } from 'node:stream/consumers';
import { listen } from '../../../shared/support/loopback.ts';
import type { ApiClient } from './api-client.ts';

/** @param api called for each request, so that a test can replace the client */
export async function serve(api: () => ApiClient) {
  return await listen(async (request, outgoing) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const rawBody = await text(request);
    const headers = request.headers as Record<string, string>;
    const response = await api().request(request.method ?? '', path, {
      query,
      headers,
      ...(rawBody && { rawBody }),
    });
    outgoing
      .writeHead(response.status, response.headers as Record<string, string>)
      .end(response.text);
  });
}
