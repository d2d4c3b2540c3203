// Creates a `fetch` that calls a request listener of this process, without the network.
import type {
  IncomingMessage,
  OutgoingHttpHeaders,
  RequestListener,
  ServerResponse,
} from 'node:http';
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/**
 * A response arrives as a whole or not at all, is never compressed, and cannot be aborted by a signal. A listener may use of the
 * request its method, url, headers and content, and of the response what `Reply` has.
 * @throws TypeError if a body is not a string
 */
export function createFetch(listener: RequestListener): typeof fetch {
  return async (url, { method = 'GET', headers, body } = {}) => {
    if (body && typeof body !== 'string') throw new TypeError('The body must be a string');
    const { pathname, search } = new URL(String(url));
    const request = Object.assign(Readable.from(body ? [Buffer.from(body)] : []), {
      method,
      url: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
    });
    const reply = new Reply();
    listener(request as IncomingMessage, reply as unknown as ServerResponse);
    await finished(reply);
    return reply.toResponse();
  };
}

/** Collects a response. */
class Reply extends Writable {
  readonly #headers = new Headers();
  readonly #chunks: Buffer[] = [];
  #status = 200;

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, String(value));
    return this;
  }

  override _write(chunk: Buffer, _: BufferEncoding, written: () => void): void {
    this.#chunks.push(chunk);
    written();
  }

  toResponse(): Response {
    return new Response(Buffer.concat(this.#chunks), {
      status: this.#status,
      headers: this.#headers,
    });
  }
}
