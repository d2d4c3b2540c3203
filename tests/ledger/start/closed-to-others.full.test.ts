// A local service can be reached by web pages and other users only at its own port, and only its own user can read its files.
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPorts } from '../../shared/support/listening-ports.ts';
import { listDescendants } from '../../shared/support/process-tree.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { startInTest } from '../support/resources-in-test.ts';
import { openService, type StartedService } from '../support/running-service.ts';

const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';
const FOREIGN_HEADERS = {
  host: 'evil.example',
  origin: 'https://evil.example',
  authorization: SIGNATURE,
  'x-amz-date': '20260101T000000Z',
  'x-amz-target': 'DynamoDB_20120810.ListTables',
  'content-type': 'application/x-amz-json-1.0',
};

/** Returns the status of the response, or the error code if there is no response. */
async function sendForeignRequest(
  port: number,
  method: string,
  path: string,
): Promise<number | string> {
  const outgoing = send({ host: '127.0.0.1', port, method, path, headers: FOREIGN_HEADERS });
  try {
    outgoing.end(method === 'POST' ? '{}' : undefined);
    const [response] = await once(outgoing, 'response');
    response.resume();
    return response.statusCode;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const REQUESTS = [
  ['POST', '/'],
  ['GET', '/transactions'],
  ['POST', '/2015-03-31/functions/finance-ledger-local-me/invocations'],
] as const;

async function sendToAll(ports: readonly number[]) {
  const attempts = ports.flatMap((port) =>
    REQUESTS.map(
      async ([method, path]) => [port, await sendForeignRequest(port, method, path)] as const,
    ),
  );
  return await Promise.all(attempts);
}

async function expectClosedPorts({ child, port }: StartedService): Promise<void> {
  const ports = listPorts([child, ...listDescendants(child.pid)]);
  expect(ports).toContain(port);
  for (const [triedPort, outcome] of await sendToAll(ports)) {
    expect({ triedPort, outcome }).toEqual({
      triedPort,
      outcome: triedPort === port ? 403 : 'ECONNREFUSED',
    });
  }
}

const itOnLinux = it.skipIf(process.platform !== 'linux');

describe('npm start with a data folder, and a temporary path that is too long for a socket', () => {
  let folder: string;
  let service: Awaited<ReturnType<typeof openService>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'closed-'));
    const [DATA_DIR, TMPDIR] = [join(folder, 'data'), join(folder, 'a'.repeat(100))];
    mkdirSync(DATA_DIR, { mode: 0o755 });
    mkdirSync(TMPDIR);
    service = await openService({ AUTH: 'open', DATA_DIR, TMPDIR });
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true });
  });

  it('responds to its own pages', async () => {
    expect((await fetch(`${service.url}/categories`)).status).toBe(200);
  });

  itOnLinux('refuses a foreign page on every port, with AUTH=open', async () => {
    await expectClosedPorts(service);
  });

  it('leaves nothing readable by other users in the data folder', () => {
    const DATA_DIR = join(folder, 'data');
    expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700);
    const names = readdirSync(DATA_DIR);
    expect(names).toEqual(expect.arrayContaining(['endpoint', 'ledger.db', 'lock.db']));
    const readable = names.filter((name) => (statSync(join(DATA_DIR, name)).mode & 0o077) !== 0);
    expect(readable).toEqual([]);
  });
});

itOnLinux('npm start refuses a foreign page on every port, with AUTH=required', async () => {
  const service = await startInTest({ environment: { AUTH: 'required' } });
  await service.ready;
  await expectClosedPorts(service);
});

it('npm start prints a warning and serves if the database cannot be isolated', async () => {
  const folder = await createTemporaryFolder();
  writeFileSync(join(folder, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const environment = { PATH: `${folder}:${process.env.PATH}` };
  const { lines, ready } = await startInTest({ environment });
  const response = await fetch(`${await ready}/categories`);
  expect(response.status).toBe(200);
  expect(lines.join('\n')).toMatch(
    /^warning: .* at http:\/\/127\.0\.0\.1:\d+.*docs\/ledger\/security\.md/m,
  );
});
