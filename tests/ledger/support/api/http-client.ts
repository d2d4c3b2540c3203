// Sends requests to a running service over HTTP. Paths are sent byte for byte; `fetch` would normalise them.
import { Agent, type IncomingMessage, request as send } from 'node:http';
import {
  type ApiClient,
  type ApiRequest,
  formatBody,
  formatQuery,
  toApiResponse,
} from './api-client.ts';

/** @param defaultHeaders sent with every request that does not set them */
export function createHttpClient(
  baseUrl: string,
  defaultHeaders: Readonly<Record<string, string>> = {},
): ApiClient {
  const { host, hostname: name, port } = new URL(baseUrl);
  // Names under "localhost" are loopback addresses by definition, but not every resolver knows that.
  const hostname = name.endsWith('.localhost') ? '127.0.0.1' : name;
  const agent = new Agent({ keepAlive: true });

  async function request(method: string, path: string, options: ApiRequest = {}) {
    const query = formatQuery(options.query);
    const body = formatBody(options);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = send(
      {
        agent,
        hostname,
        port,
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: {
          host,
          ...defaultHeaders,
          ...(body === undefined ? {} : toBodyHeaders(body)),
          ...options.headers,
        },
      },
      resolve,
    );
    outgoing.on('error', reject).end(body);
    const incoming = await promise;
    const chunks = await Array.fromAsync(incoming as AsyncIterable<Buffer>);
    const headers = incoming.headers as Record<string, string>;
    return toApiResponse(incoming.statusCode ?? 0, headers, Buffer.concat(chunks).toString());
  }

  return { request, close: async () => agent.destroy() };
}

function toBodyHeaders(body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
}
