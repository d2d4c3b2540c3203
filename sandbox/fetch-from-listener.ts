// Creates a `fetch` that calls a request listener of this process, without the network.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';

/**
 * A response arrives as a whole or not at all, is never compressed, and cannot be aborted by a signal. The listener sees a
 * request's method, URL, headers and body, and can set the headers, status and body of the response.
 * @throws TypeError if a body is not a string, or the listener destroys the response
 */
export function createFetch(listener: RequestListener): typeof fetch {
  return async (url, { method = 'GET', headers = {}, body } = {}) => {
    if (body && typeof body !== 'string') throw new TypeError('The body must be a string');
    const { pathname, search } = new URL(String(url));
    const request = Object.assign(Readable.from(body ? [Buffer.from(body)] : []), {
      method,
      url: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
    });
    const response = new WholeResponse();
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    return await response.received;
  };
}

/** The part of a server's response that listeners use here */
class WholeResponse extends Writable {
  readonly received: Promise<Response>;
  readonly #headers = new Headers();
  readonly #chunks: Buffer[] = [];
  #status = 200;

  constructor() {
    super();
    this.received = new Promise((resolve, reject) => {
      this.once('finish', () => {
        const init = { status: this.#status, headers: this.#headers };
        resolve(new Response(Buffer.concat(this.#chunks), init));
      });
      this.once('close', () => {
        if (!this.writableFinished)
          reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }));
      });
    });
  }

  setHeader(name: string, value: string | number): void {
    this.#headers.set(name, String(value));
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>> = {}): this {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
    return this;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
