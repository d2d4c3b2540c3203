// npx node tests/ledger/generated/run.ts: Schemathesis makes valid and invalid requests from the API description, and checks the
// responses against it. It runs once against an open service, and once with a key against a service that requires keys.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { createCommand, createNumberParser, runProgram } from '../../../processes/program.ts';
import { preparePython, whyPythonUnavailable } from '../../../processes/python-tools.ts';
import { createResources } from '../../../processes/resources.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { startService, startSharedDatabase } from '../support/running-service.ts';

const REQUIREMENTS = join(import.meta.dirname, 'schemathesis.txt');
const TABLE = 'generated-requests';
const MODES = ['open', 'required'] as const;
const CONFIG = join(import.meta.dirname, 'schemathesis.toml');
const HOOKS = {
  SCHEMATHESIS_HOOKS: 'ledger_hooks',
  PYTHONPATH: import.meta.dirname,
};

const resources = createResources();

const command = createCommand(
  'npx node tests/ledger/generated/run.ts',
  'Send generated requests to the service.',
)
  .option(
    '--requests <number>',
    'the minimum number of requests',
    createNumberParser({ min: 100 }),
    10_000,
  )
  .option(
    '--seed <number>',
    'the seed of the requests, to repeat a run',
    createNumberParser({ min: 0 }),
    20_240_229,
  )
  .action(async ({ requests, seed }) => {
    const obstacle = whyPythonUnavailable();
    if (obstacle) {
      console.log(`Skipped the generated requests: ${obstacle} on this machine`);
      console.log('0 passed, 0 failed, 1 skipped');
      return;
    }
    const python = await preparePython(resources, REQUIREMENTS);
    let sentCount = 0;
    for (const [n, mode] of MODES.entries()) {
      const { url, options } = await openService(mode);
      // This limits the requests of each operation; requests that follow links are extra.
      const remaining = (requests - sentCount) / (MODES.length - n);
      const maxExamples = Math.ceil(remaining / (await countOperations(url)));
      sentCount += await send(python, [
        ...[
          '--config-file',
          CONFIG,
          'run',
          `${url}/openapi.json`,
          '--no-color',
          '--seed',
          String(seed),
        ],
        ...['--max-examples', String(maxExamples), '--generation-database', 'none', ...options],
      ]);
    }
    console.log(`${sentCount} requests in total`);
    if (sentCount < requests) throw new UserError(`Fewer than ${requests} requests were sent`);
  });

await runProgram(command, { resources });

/** @returns the address of the service, and the options of Schemathesis for it */
async function openService(mode: (typeof MODES)[number]) {
  const database = await startSharedDatabase(resources, TABLE);
  const { ready } = await startService(resources, { environment: { AUTH: mode, ...database } });
  const url = await ready;
  if (mode === 'required') {
    const secret = await createKey(database.DYNAMODB_ENDPOINT);
    return { url, options: ['--header', `Authorization: Bearer ${secret}`] };
  }
  // An open service accepts requests without a key, so checks of the description's rules for keys are left out.
  const withoutKeys = ['--generation-with-security-parameters', 'false'];
  return { url, options: ['--exclude-checks', 'ignored_auth', ...withoutKeys] };
}

async function createKey(endpoint: string): Promise<string> {
  const client = createDocumentClient(endpoint);
  const keys = createTestKeys({ client, tableName: TABLE });
  const { secret } = await keys.create({ name: 'generated', ledger: 'generated', scope: 'write' });
  return secret;
}

async function countOperations(url: string): Promise<number> {
  const response = await fetch(`${url}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  return Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
}

/** Runs Schemathesis. @returns the number of requests that it sent */
async function send(python: string, args: readonly string[]): Promise<number> {
  const folder = await resources.createTemporaryFolder('ledger-generated-');
  const child = spawn(python, ['-m', 'schemathesis.cli', ...args], {
    cwd: folder,
    env: { ...process.env, ...HOOKS },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  resources.onStop(() => {
    child.kill();
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) process.exitCode = 1;
  return Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
}
