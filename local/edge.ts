// The server that clients call. It forwards requests to the local gateway, and does what API Gateway does on AWS: it handles
// CORS, passes bodies on as bytes, and logs one line for each request.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parse } from 'yaml';
import { PayloadTooLargeError } from '../lib/ledger/errors.ts';
import { BODY_TOO_LARGE } from '../lib/ledger/http/json-body.ts';
import { isUtf8, NOT_UTF8 } from '../lib/ledger/http/query-string.ts';
import { maskUnprintable } from '../lib/shared/printable.ts';
import { UserError } from '../lib/shared/user-error.ts';
import type { Resources } from '../processes/resources.ts';
import { USER_AGENTS } from './user-agents.ts';

export interface EdgeOptions {
  readonly port: number;
  /** Browser origins that may send requests, and whose hosts are accepted in the Host header; `*` for any. */
  readonly allowedOrigins: readonly string[];
  readonly log: (line: string) => void;
}

export interface Edge {
  /** Forwards all requests to the gateway behind this socket. Requests that arrive before the first call wait. */
  forwardTo(socketPath: string): void;
}

// User agents of commands that send many requests. Only their failed requests are logged.
const QUIET_AGENTS: ReadonlySet<string | undefined> = new Set(Object.values(USER_AGENTS));

// The name "localhost" may resolve to either address.
const HOSTS = ['127.0.0.1', '::1'];
const LOCAL_HOST_NAME = /^((.+\.)?localhost|127\.0\.0\.1|\[::1\])$/;
/** The limit of both API Gateway and the local gateway. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Lambda's limit. On AWS, escapes in the JSON text that a function returns count as well. */
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024;
/** The log masks longer parts of an address. Routes and parameter names are shorter. API keys and access tokens are longer. */
const MAX_LOGGED_LENGTH = 30;

const SERVERLESS_FILE = join(import.meta.dirname, '../serverless.yml');

/** @throws UserError if the port cannot be used */
export async function openEdge(resources: Resources, options: EdgeOptions): Promise<Edge> {
  const { promise: firstGateway, resolve: setFirstGateway } = Promise.withResolvers<string>();
  let gateway: Promise<string> = firstGateway;
  const agent = new Agent({ keepAlive: true });
  const cors = createCors(options.allowedOrigins);
  const isHostAllowed = createHostCheck(options.allowedOrigins);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    // An embedding page has no origin, so its description takes the place of one. It is refused unless any origin is allowed.
    const sender = origin ?? describeEmbeddingPage(request);
    const isRefused = cors.refuses(sender);
    // Checks all Host headers: a proxy in front of this service may use another of them than Node does.
    const host = request.headersDistinct.host?.join(', ');
    const isForeignHost = !isHostAllowed(host);
    const refusalReason = isForeignHost
      ? `host "${host}" is not a name of this machine. ${adviseOnHost(host)}`
      : origin === undefined
        ? `${sender} embeds it`
        : `origin ${origin} is not in ALLOWED_ORIGINS`;
    logWhenDone(
      request,
      response,
      options.log,
      isForeignHost || isRefused ? refusalReason : undefined,
    );
    if (isForeignHost) {
      const message = `Requests to the host "${host}" are not allowed. ${adviseOnHost(host)}`;
      sendFailure(response, 403, { error: 'forbidden_host', message });
    } else if (isPreflight(request)) {
      startResponse(response, 204, cors.preflightHeaders(request.headers.origin)).end();
    } else if (isRefused) {
      const message = `Requests from ${sender} are not allowed`;
      sendFailure(response, 403, { error: 'forbidden_origin', message });
    } else if (!isUtf8(readQuery(request))) {
      // The gateway would decode the query and encode it again, so the functions would receive a different string.
      sendFailure(response, 400, { error: 'validation_failed', message: NOT_UTF8 });
    } else {
      const gatewayResponse = await forward(request, { socketPath: await gateway, agent });
      const responseBytes = Number(gatewayResponse.headers['content-length']);
      if (responseBytes > MAX_RESPONSE_BYTES) {
        gatewayResponse.destroy();
        options.log(
          `The next response has ${responseBytes} bytes; a deployed function sends 6 MB at most`,
        );
        // API Gateway itself sends this body, without the API's envelope.
        const body = JSON.stringify({ message: 'Internal Server Error' });
        startResponse(response, 500, { 'content-type': 'application/json' }).end(body);
        return;
      }
      const headers = {
        ...removeCorsHeaders(gatewayResponse.headers),
        ...cors.headers(request.headers.origin),
      };
      await pipeline(
        gatewayResponse,
        startResponse(response, gatewayResponse.statusCode ?? 502, headers),
      );
    }
  }

  const createListener = () =>
    createServer((request, response) => {
      serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else if (error instanceof PayloadTooLargeError)
          sendFailure(response, 413, { error: 'payload_too_large', message: error.message });
        else
          sendFailure(response, 502, {
            error: 'bad_gateway',
            message: 'The local gateway has ended',
          });
      });
    });
  resources.onStop(() => agent.destroy());
  for (const host of HOSTS) await listen(resources, createListener(), { host, port: options.port });
  return {
    forwardTo(socketPath) {
      setFirstGateway(socketPath);
      gateway = Promise.resolve(socketPath);
    },
  };
}

async function listen(
  resources: Resources,
  server: ReturnType<typeof createServer>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The machine has no IPv6 address.
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return;
    const reason = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
    throw new UserError(`Port ${port} ${reason}; choose another one with PORT`);
  }
  resources.onStop(() => {
    server.close();
    server.closeAllConnections();
  });
}

async function forward(
  request: IncomingMessage,
  target: { readonly socketPath: string; readonly agent: Agent },
): Promise<IncomingMessage> {
  const { method, url: path } = request;
  const headers = prepareHeaders(request.headersDistinct);
  const outgoing = send({ ...target, method, path, headers });
  const responded = once(outgoing, 'response');
  // Ignores an error after the response, which would otherwise be unhandled and end the process.
  outgoing.on('error', () => undefined);
  let bytes = 0;
  // Counts the bytes of the body here. In the middle of a body that is too large, the gateway would close the connection without
  // a response.
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) outgoing.destroy(new PayloadTooLargeError(BODY_TOO_LARGE));
  });
  request.pipe(outgoing);
  const [response] = await responded;
  return response;
}

// Makes up for differences between the local gateway and API Gateway. The local gateway would answer range requests itself and
// add CORS headers. It would keep only the first of two headers with the same name, or join them with a comma and a space
// instead of a comma. It would decode a body as UTF-8. With the type application/octet-stream, the functions get its bytes in
// base64.
function prepareHeaders(received: NodeJS.Dict<string[]>): Readonly<Record<string, string>> {
  const forwarded = Object.entries(received).filter(
    ([name]) => !/^(range|if-range|if-.*modified-since|origin|connection|content-type)$/.test(name),
  );
  const hasBody = Number(received['content-length']) > 0 || 'transfer-encoding' in received;
  return {
    ...Object.fromEntries(forwarded.map(([name, values = []]) => [name, values.join(',')])),
    ...(hasBody && { 'content-type': 'application/octet-stream' }),
  };
}

function removeCorsHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(access-control-.*|connection)$/.test(name)),
  );
}

/**
 * Describes the page that embeds the requested address as an image, a script or a frame. Such a request has no origin, but the
 * browser marks it as coming from another site. It must be refused, because the page could measure how long a search takes. A
 * link that a user follows is not embedded: the browser marks it as a navigation to a document.
 */
function describeEmbeddingPage({ headers }: IncomingMessage): string | undefined {
  const { 'sec-fetch-site': site = 'none', 'sec-fetch-mode': mode } = headers;
  const isLink = mode === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site === 'none' || site === 'same-origin' || isLink ? undefined : `a ${site} page`;
}

function readQuery({ url = '' }: IncomingMessage): string {
  return url.split('?').slice(1).join('?');
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers;
}

/**
 * API Gateway adds headers for an allowed origin, and relies on browsers to stop other origins. But a browser sends a simple POST
 * without a preflight, so any website could write to the ledger of this machine. Requests from other origins are therefore
 * refused here.
 */
function createCors(allowed: readonly string[]) {
  const { provider } = parse(readFileSync(SERVERLESS_FILE, 'utf8'));
  const { allowedMethods, allowedHeaders, exposedResponseHeaders, maxAge } = provider.httpApi.cors;
  const isAnyAllowed = allowed.includes('*');
  const refuses = (origin?: string) =>
    origin !== undefined && !isAnyAllowed && !allowed.includes(origin);
  const originHeader = (origin: string) => ({
    'access-control-allow-origin': isAnyAllowed ? '*' : origin,
  });
  return {
    refuses,
    headers: (origin?: string) =>
      origin !== undefined && {
        ...originHeader(origin),
        'access-control-expose-headers': exposedResponseHeaders.join(','),
      },
    preflightHeaders: (origin = '') =>
      refuses(origin)
        ? {}
        : {
            ...originHeader(origin),
            'access-control-allow-methods': allowedMethods.join(','),
            'access-control-allow-headers': allowedHeaders.join(','),
            'access-control-max-age': maxAge,
          },
  };
}

/**
 * A website can point its own name at this machine. A browser then takes this service for that website, and sends GETs without
 * an origin. Only the Host header reveals such a request.
 */
function createHostCheck(allowedOrigins: readonly string[]) {
  const allowed = allowedOrigins.map((origin) => URL.parse(origin)?.hostname);
  return (host: string | undefined): boolean => {
    const name = URL.parse(`http://${host}`)?.hostname;
    if (name === undefined) return false;
    return LOCAL_HOST_NAME.test(name) || allowed.includes(name) || allowedOrigins.includes('*');
  };
}

function adviseOnHost(host: string | undefined): string {
  return `If it is yours, add http://${host} to ALLOWED_ORIGINS.`;
}

function sendFailure(response: ServerResponse, status: number, failure: object): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': randomUUID(),
  };
  startResponse(response, status, headers).end(JSON.stringify({ success: false, ...failure }));
}

/** Sets headers one by one, because the log cannot read those that `writeHead` sends. */
function startResponse(response: ServerResponse, status: number, headers: object): ServerResponse {
  response.statusCode = status;
  return response.setHeaders(new Map(Object.entries(headers)));
}

function logWhenDone(
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
  log: (line: string) => void,
  refusal: string | undefined,
): void {
  const started = performance.now();
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : 'aborted';
    if (QUIET_AGENTS.has(headers['user-agent']) && Number(status) < 400) return;
    const id = response.getHeader('x-request-id') ?? '-';
    const line = `${method} ${hideValues(url)} ${status} ${Math.round(performance.now() - started)} ms ${id}`;
    // A header may contain control characters that a terminal would execute.
    log(maskUnprintable(refusal === undefined ? line : `${line}: ${refusal}`));
  });
}

/** Hides values for the log. Any value that a client sends may be private, and an API key may appear anywhere. */
function hideValues(url = ''): string {
  const maskLong = (text: string) => (text.length > MAX_LOGGED_LENGTH ? '…' : text);
  const [path = '', ...query] = url.split('?');
  const names = query
    .join('?')
    .split('&')
    .map((parameter) => {
      const [name = '', ...value] = parameter.split('=');
      return value.length > 0 ? `${maskLong(name)}=…` : maskLong(name);
    });
  const route = path.split('/').map(maskLong).join('/');
  return query.length > 0 ? `${route}?${names.join('&')}` : route;
}
