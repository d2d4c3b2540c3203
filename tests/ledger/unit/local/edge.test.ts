// The edge is the server that clients of the local service call: its CORS, its request log, and the requests that it passes to
// the gateway.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  request as send,
} from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Edge, openEdge } from '../../../../local/edge.ts';
import { createSocketPaths } from '../../../../local/private-sockets.ts';
import { USER_AGENTS } from '../../../../local/user-agents.ts';
import { findFreePort } from '../../../../processes/free-port.ts';
import { createResources, type Resources } from '../../../../processes/resources.ts';

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const OWN_ORIGIN = 'http://localhost:3000';
const FOREIGN_ORIGIN = 'https://elsewhere.example';
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024;

let resources: Resources;
let port: number;
let edge: Edge;
let logLines: string[];
let receivedRequests: ReceivedRequest[];

beforeEach(async () => {
  resources = createResources();
  port = await findFreePort();
  logLines = [];
  receivedRequests = [];
  edge = await startEdge([OWN_ORIGIN]);
  edge.forwardTo(await startGateway());
});

afterEach(() => resources.stop());

async function startEdge(allowedOrigins: readonly string[]): Promise<Edge> {
  return await openEdge(resources, { port, allowedOrigins, log: (line) => logLines.push(line) });
}

async function reopen(...allowedOrigins: readonly string[]): Promise<void> {
  await resources.stop();
  resources = createResources();
  edge = await startEdge(allowedOrigins);
}

/** Starts a gateway that records requests and responds with its own CORS headers, as the real gateway does. */
async function startGateway(status = 201, responseBody = 'answered'): Promise<string> {
  return await startServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await buffer(request).catch(() => undefined);
    // The edge has ended the request.
    if (body === undefined) return;
    receivedRequests.push({ method, url, headers, body });
    response.writeHead(status, {
      'x-request-id': 'function-1',
      'access-control-allow-origin': headers.origin ?? 'none',
      'access-control-expose-headers': 'X-Request-Id,X-Request-Id',
      'content-length': Buffer.byteLength(responseBody),
    });
    response.end(responseBody);
  });
}

async function startServer(listener: RequestListener): Promise<string> {
  const socketPath = (await createSocketPaths(resources))('gateway');
  const server = createServer(listener).listen(socketPath);
  await once(server, 'listening');
  resources.onStop(() => {
    server.close();
    server.closeAllConnections();
  });
  return socketPath;
}

async function call(
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: Buffer,
) {
  const outgoing = send({ host: '127.0.0.1', port, method, path, headers });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  return {
    status: response.statusCode as number,
    headers: response.headers as IncomingHttpHeaders,
    body: String(await buffer(response)),
  };
}

describe('a request', () => {
  it('reaches the gateway as it was sent, and its response reaches the client', async () => {
    const { status, headers, body } = await call('GET', '/transactions/?page=2&type=%20', {
      accept: 'text/html',
    });
    expect({ status, body }).toEqual({ status: 201, body: 'answered' });
    expect(headers['x-request-id']).toBe('function-1');
    expect(receivedRequests).toMatchObject([
      { method: 'GET', url: '/transactions/?page=2&type=%20', headers: { accept: 'text/html' } },
    ]);
  });

  // The gateway decodes any other type as UTF-8, and parses JSON a second time.
  it('passes its body on byte for byte, as binary', async () => {
    const body = Buffer.from('"caf\xe9"', 'latin1');
    await call('POST', '/categories', { 'content-type': 'application/json' }, body);
    expect(receivedRequests[0]?.body).toEqual(body);
    expect(receivedRequests[0]?.headers['content-type']).toBe('application/octet-stream');
  });

  it('passes on If-Match, but not Range, which API Gateway does not know', async () => {
    const ranges = { range: 'bytes=0-1', 'if-range': 'x', 'if-modified-since': 'x' };
    await call('GET', '/', { ...ranges, 'if-match': 'x', 'if-none-match': '*' });
    const names = Object.keys(receivedRequests[0]?.headers ?? {}).filter((name) =>
      /range|if-/.test(name),
    );
    expect(names).toEqual(['if-match', 'if-none-match']);
  });

  it('passes on a repeated header as one header, joined as API Gateway joins it', async () => {
    const repeatedHeaders = { authorization: ['Bearer a', 'Bearer b'], 'if-match': ['"1"', '"2"'] };
    await call('GET', '/', { ...repeatedHeaders, 'user-agent': ['one', 'two'] });
    expect(receivedRequests[0]?.headers).toMatchObject({
      ...{ authorization: 'Bearer a,Bearer b', 'if-match': '"1","2"', 'user-agent': 'one,two' },
    });
  });

  it('gets a response of up to 6 MB, and a 500 instead of a larger response, as from API Gateway', async () => {
    edge.forwardTo(await startGateway(200, 'x'.repeat(MAX_RESPONSE_BYTES)));
    const largestResponse = await call('GET', '/');
    expect([largestResponse.status, largestResponse.body.length]).toEqual([
      200,
      MAX_RESPONSE_BYTES,
    ]);
    edge.forwardTo(await startGateway(200, `${'x'.repeat(MAX_RESPONSE_BYTES - 1)}é`));
    expect(await call('GET', '/')).toMatchObject({
      ...{ status: 500, body: '{"message":"Internal Server Error"}' },
    });
    expect(logLines).toContain(
      'The next response has 6291457 bytes; a deployed function sends 6 MB at most',
    );
  });

  // The gateway hands functions a query that it has decoded and encoded again.
  it('gets a 400 in the envelope if its query string is not UTF-8', async () => {
    const { status, headers, body } = await call('GET', '/transactions?q=caf%E9');
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ success: false, error: 'validation_failed' });
    expect(headers['x-request-id']).toMatch(/\S/);
    expect(receivedRequests).toEqual([]);
  });

  it('waits until the gateway is ready', async () => {
    await reopen(OWN_ORIGIN);
    const response = call('GET', '/');
    edge.forwardTo(await startGateway());
    expect((await response).status).toBe(201);
  });

  it.each([
    ['of a known length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('gets a 413 if its body, %s, is larger than the gateway accepts', async (_, headers) => {
    const largestBody = Buffer.alloc(10 * 1024 * 1024, 'a');
    expect((await call('POST', '/categories', headers, largestBody)).status).toBe(201);
    const { status, body } = await call(
      'POST',
      '/categories',
      headers,
      Buffer.concat([largestBody, Buffer.from('a')]),
    );
    expect({ status, ...JSON.parse(body) }).toEqual({
      status: 413,
      success: false,
      error: 'payload_too_large',
      message: 'The request body must not be larger than 1048576 bytes',
    });
  });

  it('gets a 502 in the envelope if the gateway has stopped', async () => {
    edge.forwardTo('/nowhere');
    const { status, headers, body } = await call('GET', '/');
    expect(status).toBe(502);
    expect(JSON.parse(body)).toMatchObject({ success: false, error: 'bad_gateway' });
    expect(headers['x-request-id']).toMatch(/\S/);
  });
});

// A page of another site can point its own host name at this machine: the browser then treats its requests as same-origin.
describe('a page of another site', () => {
  const preflight = { origin: OWN_ORIGIN, 'access-control-request-method': 'POST' };
  const withOrigin = (origin: string) =>
    [{ origin }, 'forbidden_origin', `${origin} is not in ALLOWED_ORIGINS`] as const;
  const withHost = (host: string) =>
    [{ host }, 'forbidden_host', `host "${host}" is not a name of this machine`] as const;

  it.each([
    ...['null', `${OWN_ORIGIN}.example`, 'http://localhost'].map(withOrigin),
    ...['evil.example:3000', 'localhost.evil.example', 'evil-localhost', '127.0.0.1.evil'].map(
      withHost,
    ),
  ])(
    'with %j does not reach the gateway, and the log names the reason',
    async (sender, error, reason) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, headers, body } = await call(method, '/categories', sender);
        expect([status, JSON.parse(body)]).toMatchObject([403, { success: false, error }]);
        expect(headers['x-request-id']).toMatch(/\S/);
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        if ('host' in sender)
          expect(body).toContain(`add http://${sender.host} to ALLOWED_ORIGINS`);
      }
      const { status, headers } = await call('OPTIONS', '/categories', { ...preflight, ...sender });
      expect(status).toBe('host' in sender ? 403 : 204);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(receivedRequests).toEqual([]);
      await expect.poll(() => logLines).toHaveLength(4);
      for (const line of logLines) expect(line).toContain(reason);
    },
  );
});

describe('a browser that names no origin', () => {
  it.each([
    ['cross-site', 'no-cors', 'image', 403],
    ['same-site', 'no-cors', 'script', 403],
    ['cross-site', 'websocket', 'websocket', 403],
    ['cross-site', 'navigate', 'iframe', 403],
    ['cross-site', 'navigate', 'embed', 403],
    ['cross-site', 'navigate', 'document', 201],
    ['same-origin', 'no-cors', 'image', 201],
    ['none', 'navigate', 'document', 201],
  ])(
    'whose request is %s, in mode %s and for a destination %s, gets %i',
    async (site, mode, destination, status) => {
      const headers = {
        'sec-fetch-site': site,
        'sec-fetch-mode': mode,
        'sec-fetch-dest': destination,
      };
      const response = await call('GET', '/transactions/search?q=rent', headers);
      expect([response.status, receivedRequests]).toEqual([
        status,
        expect.objectContaining({ length: status === 201 ? 1 : 0 }),
      ]);
      if (status === 403) expect(response.body).toContain('forbidden_origin');
    },
  );

  it('is served if every origin is allowed', async () => {
    await reopen('*');
    edge.forwardTo(await startGateway());
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await call('GET', '/categories', headers)).status).toBe(201);
  });
});

it('a request with two hosts is refused, whichever comes first', async () => {
  for (const hosts of [
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
  ]) {
    const socket = connect(port, '127.0.0.1');
    const requestLines = ['GET /categories HTTP/1.1', ...hosts.map((host) => `Host: ${host}`)];
    socket.end(`${requestLines.join('\r\n')}\r\n\r\n`);
    expect(String(await buffer(socket))).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(receivedRequests).toEqual([]);
});

it.each(['localhost:1', '127.0.0.1', '[::1]:3000', 'api.localhost:8080', 'LOCALHOST'])(
  'the host %s belongs to this machine, and is served',
  async (host) => expect((await call('GET', '/categories', { host })).status).toBe(201),
);

it.each([
  ['http://api.example:3000', { host: 'api.example:8080' }, undefined],
  ['*', { host: 'evil.example' }, undefined],
  ['*', { origin: FOREIGN_ORIGIN }, '*'],
])('ALLOWED_ORIGINS with %s allows %j', async (allowed, sender, allowedOrigin) => {
  await reopen(OWN_ORIGIN, allowed);
  edge.forwardTo(await startGateway());
  const { status, headers } = await call('GET', '/categories', sender);
  expect([status, headers['access-control-allow-origin']]).toEqual([201, allowedOrigin]);
});

describe('the log', () => {
  it('has a line per request: method, path, status, duration and request id', async () => {
    await call('PUT', '/transactions/1?x=y&page');
    await expect
      .poll(() => logLines)
      .toEqual([expect.stringMatching(/^PUT \/transactions\/1\?x=…&page 201 \d+ ms function-1$/)]);
  });

  it('has no terminal escape from a header', async () => {
    await call('GET', '/', { host: 'evil\u009b31m.example' });
    await expect.poll(() => logLines).toEqual([expect.stringContaining('evil\ufffd31m')]);
  });

  const key = `fl_${'k'.repeat(43)}`;
  it.each([
    ['a parameter', `/transactions?api_key=${key}&q=${key}?${key}`, '/transactions?api_key=…&q=…'],
    ['the name of a parameter', `/transactions?${key}&${key}=1`, '/transactions?…&…=…'],
    ['the path', `/${key}/1`, '/…/1'],
  ])('has no key from %s', async (_, path, loggedPath) => {
    await call('GET', path);
    await expect.poll(() => logLines).toEqual([expect.stringContaining(`GET ${loggedPath} 201 `)]);
  });

  it.each(['before', 'in the middle of'])(
    'marks a request as aborted if its client disconnects %s the response',
    async (when) => {
      const { promise: requestArrived, resolve: onArrival } = Promise.withResolvers<void>();
      edge.forwardTo(
        await startServer((_, response) => {
          if (when !== 'before') response.writeHead(200).write('half');
          onArrival();
        }),
      );
      const path = '/transactions';
      const outgoing = send({ host: '127.0.0.1', port, path }, () => outgoing.destroy());
      outgoing.on('error', () => undefined).end();
      await requestArrived;
      if (when === 'before') outgoing.destroy();
      await expect
        .poll(() => logLines)
        .toEqual([expect.stringMatching(/^GET \/transactions aborted /)]);
    },
  );

  it.each(Object.values(USER_AGENTS))(
    'has no line for a request from %s unless the request fails',
    async (agent) => {
      const headers = { 'user-agent': agent };
      await call('POST', '/transactions', headers);
      edge.forwardTo(await startGateway(500));
      await call('POST', '/transactions', headers);
      await expect.poll(() => logLines).toEqual([expect.stringContaining(' 500 ')]);
    },
  );
});

it('the edge does not start on a port that is in use, and names the port', async () => {
  await expect(startEdge([])).rejects.toThrow(`Port ${port} is in use`);
});
