// Connection failures that no retry can fix are reported at once, with the setting to change.
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toConnectionFailure } from '../../../../lib/migration/adapters/http.ts';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { findFreePort } from '../../../../processes/free-port.ts';
import { failureNamed } from '../../support/refused.ts';

async function listenOnPort(server: Pick<Server, 'listen' | 'address' | 'close'>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Counts connections, which shows whether a request was retried. */
function countConnections(server: Server): { connections: number } {
  const counter = { connections: 0 };
  server.on('connection', () => {
    counter.connections += 1;
  });
  return counter;
}

describe('an address that cannot work', () => {
  it('with https on an http port is refused after one attempt', async () => {
    const server = createServer((_, response) => response.end());
    const counter = countConnections(server);
    const store = createQdrant({ url: `https://127.0.0.1:${await listenOnPort(server)}` });
    const why = /does not speak https on that port/;
    await expect(store.fetchVersion()).rejects.toEqual(failureNamed('RefusedSetting', why));
    expect(counter.connections).toBe(1);
  });

  it('with the gRPC port is refused after one attempt', async () => {
    const server = createHttp2Server() as unknown as Server;
    const counter = countConnections(server);
    const store = createQdrant({ url: `http://127.0.0.1:${await listenOnPort(server)}` });
    await expect(store.fetchVersion()).rejects.toEqual(
      failureNamed('RefusedSetting', /REST port \(6333\)/),
    );
    expect(counter.connections).toBe(1);
  });
});

it.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /not valid now/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for another host/],
])('the certificate failure %s is refused with the remedy', (code, why) => {
  const cause = Object.assign(new TypeError('fetch failed'), { cause: { code } });
  const failure = toConnectionFailure({ url: 'https://store.example/path', name: 'GET /' }, cause);
  expect(failure).toEqual(failureNamed('RefusedSetting', why));
});

it('a refused connection is retried, because the service may be starting', async () => {
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const failure = await fetch(url).catch((cause: unknown) =>
    toConnectionFailure({ url, name: 'GET /' }, cause),
  );
  expect(failure).toEqual(failureNamed('RetryableUnavailable', 'ECONNREFUSED'));
});
