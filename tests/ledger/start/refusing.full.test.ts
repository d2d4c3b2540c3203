// Commands that start a process refuse bad input with one clear line and exit code 1.

import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { dynamodbLocal } from '../../../local/engine.ts';
import { findFreePort } from '../../../processes/free-port.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { startInTest } from '../support/resources-in-test.ts';
import { PROJECT, type ServiceSpec } from '../support/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await createTemporaryFolder();
});

async function expectRefusal(spec: ServiceSpec, sentence: RegExp): Promise<void> {
  const { child, lines } = await startInTest(spec);
  expect(await child.ended).toBe('ended with exit code 1');
  await child.stop();
  expect(lines).toEqual([expect.stringMatching(sentence)]);
}

describe('npm start refuses a port', () => {
  it.for(['127.0.0.1', '::', '::1'])('in use on %s', async (host, { skip }) => {
    const server = createServer().listen(0, host);
    const listening = await new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    if (!listening) skip(`This machine has no address ${host}`);
    const address = server.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    await expectRefusal({ environment: { PORT: port } }, new RegExp(`^Port ${port} is in use; `));
    server.close();
  });
});

describe('npm start refuses a data folder', () => {
  it('whose path is a file or below a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const sentence = /^The data folder \S+ cannot be used: .* is not a folder$/;
    await expectRefusal({ environment: { DATA_DIR: file } }, sentence);
    await expectRefusal({ environment: { DATA_DIR: join(file, 'below') } }, sentence);
  });

  it('whose database file is not a database', async () => {
    writeFileSync(join(folder, 'ledger.db'), 'something else altogether');
    const environment = { DATA_DIR: folder };
    await expectRefusal({ environment }, /^The embedded database did not start: /);
  });

  it('that another npm start uses', async () => {
    const environment = { DATA_DIR: folder };
    const { ready } = await startInTest({ environment });
    await ready;
    await expectRefusal({ environment }, /^The data folder \S+ is in use by another process; /);
  });
});

describe('if the embedded engine is not installed', () => {
  beforeEach(copyProject);

  it('and Java is missing, npm start says how to start a database with Docker', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync('/bin/sh', join(bin, 'sh'));
    await expectRefusal(
      { folder, environment: { PATH: bin } },
      /^No database can run here: .*Linux x64.*Java 17.*docker run .*DYNAMODB_ENDPOINT=/,
    );
  });

  it('npm start fetches it with npm', async () => {
    const first = await startInTest({ folder });
    await first.ready;
    expect(first.lines[0]).toContain('embedded database');
    expect(readdirSync(join(folder, '.local', 'dynoxide'))).toHaveLength(1);
  });

  // This test starts DynamoDB Local twice, a Java program that may have to be fetched first.
  it('and npm cannot fetch it, npm start starts DynamoDB Local, and keeps the data', async ({
    skip,
  }) => {
    const obstacle = dynamodbLocal.whyUnavailable();
    if (obstacle) skip(`DynamoDB Local cannot run: ${obstacle}`);
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const script = `#!/bin/sh\ncase "$*" in *dynoxide*) exit 1;; esac\nPATH=\${PATH#*:} exec npm "$@"\n`;
    writeFileSync(join(bin, 'npm'), script, { mode: 0o755 });
    const environment = { DATA_DIR: join(folder, 'data'), PATH: `${bin}:${process.env.PATH}` };
    const first = await startInTest({ folder, environment });
    const url = await first.ready;
    expect(first.lines[0]).toContain('DynamoDB Local');
    const body = JSON.stringify({ name: 'Rent' });
    expect((await fetch(`${url}/categories`, { method: 'POST', body })).status).toBe(201);
    await first.child.stop();
    const second = await startInTest({ folder, environment });
    const response = await fetch(`${await second.ready}/categories`);
    expect(await response.json()).toMatchObject({ data: [{ name: 'Rent' }] });
  });
});

it.each([
  [{ AUTH: 'none' }, /^AUTH must be /],
  [{ AWS_REGION: 'local' }, /^AWS_REGION must be an AWS region, .* not "local"$/],
])('npm start refuses the setting %j', async (environment, sentence) => {
  await expectRefusal({ environment }, sentence);
});

describe('npm start refuses the database of DYNAMODB_ENDPOINT', () => {
  it('that refuses connections', async () => {
    const endpoint = `http://127.0.0.1:${await findFreePort()}`;
    const environment = { DYNAMODB_ENDPOINT: endpoint };
    await expectRefusal({ environment }, /^The database at \S+ cannot be used: ECONNREFUSED$/);
  });

  it('that accepts connections and never responds', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const environment = { DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}` };
    await expectRefusal(
      { environment },
      /^The database at \S+ cannot be used: it does not answer$/,
    );
    silent.close();
  });
});

it('a deployment to an emulator is refused if Python is too old', async () => {
  writeFileSync(join(folder, 'python3'), '#!/bin/sh\necho Python 3.9.2\n', { mode: 0o755 });
  const environment = { PATH: `${folder}:${process.env.PATH}` };
  const command = [process.execPath, 'local/emulator/deploy-emulator.ts'] as const;
  await expectRefusal({ command, environment }, /needs Python: .*3\.11 or newer/);
});

/** Copies the project with all its packages except the engine. */
function copyProject(): void {
  for (const path of COPIED_PATHS)
    cpSync(join(PROJECT, path), join(folder, path), { recursive: true });
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(PROJECT, 'node_modules'))) {
    if (name !== '@dynoxide')
      symlinkSync(join(PROJECT, 'node_modules', name), join(packages, name));
  }
}

const COPIED_PATHS = [
  ...['functions', 'lib', 'local', 'processes', 'serverless', 'web'],
  ...['serverless.yml', 'package.json', 'tsconfig.json'],
];
