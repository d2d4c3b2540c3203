// A fetch whose requests a server of this process answers, without the network.
import type { RequestListener } from 'node:http';
import inject, { type InjectOptions } from 'light-my-request';

/** Takes headers as an object, and a body that is no form. The body of a response arrives as a whole. */
export function createFetch(listener: RequestListener): typeof fetch {
  return async (url, options = {}) => {
    const request = { ...options, url: String(url) } as InjectOptions;
    const { statusCode, headers, rawPayload } = await inject(listener, request);
    const sent = Object.entries(headers).map(([name, value]): [string, string] => {
      return [name, String(value)];
    });
    return new Response(rawPayload, { status: statusCode, headers: sent });
  };
}
