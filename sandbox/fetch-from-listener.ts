// Creates a `fetch` that calls a request listener of this process, without the network.
import type { RequestListener } from 'node:http';
import inject, { type InjectOptions } from 'light-my-request';

/**
 * A response arrives as a whole or not at all, is never compressed, and cannot be aborted by a signal.
 * @throws TypeError if a body is not a string
 */
export function createFetch(listener: RequestListener): typeof fetch {
  return async (url, { method, headers: requestHeaders, body } = {}) => {
    if (body && typeof body !== 'string') throw new TypeError('The body must be a string');
    const request = {
      method,
      url: String(url),
      headers: requestHeaders,
      payload: body,
    } as InjectOptions;
    const { statusCode, headers, rawPayload } = await inject(listener, request);
    return new Response(rawPayload, {
      status: statusCode,
      headers: headers as Record<string, string>,
    });
  };
}
