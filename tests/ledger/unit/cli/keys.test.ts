// Options of `npm run keys` that are checked before the command reaches a database, above all the ledger that a key opens.
import { afterAll, expect, it } from 'vitest';
import { findFreePort } from '../../../../processes/free-port.ts';
import { runCommand } from '../../../shared/support/command.ts';
import { listen } from '../../../shared/support/loopback.ts';
import { oneInEvery } from '../../../shared/support/quick-cases.ts';

const run = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  runCommand('cli/ledger/keys.ts', args, { DATA_DIR: '/nowhere', ...environment });

const CREDENTIALS = {
  AWS_REGION: 'eu-west-3',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
};
const WITHOUT_CREDENTIALS = { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nowhere' };
const CREATE = ['create', '--name', 'phone'];
const closedUrl = `http://127.0.0.1:${await findFreePort()}`;
const urlWithoutTables = await startServerWithoutTables();

type RefusedCommand = [
  args: string[],
  environment: NodeJS.ProcessEnv,
  exitCode: number,
  expectedWords: string[],
];

const REFUSED_COMMANDS: readonly RefusedCommand[] = [
  [[...CREATE, '--ledger', 'a b'], {}, 2, ['--ledger']],
  [CREATE, { LEDGER_ID: 'a b' }, 1, ['LEDGER_ID']],
  [['list'], { DATA_DIR: 'memory' }, 1, ['Set DYNAMODB_ENDPOINT']],
  [
    ['list', '--stage', 'nosuch'],
    { ...CREDENTIALS, AWS_ENDPOINT_URL: urlWithoutTables },
    1,
    ['the stage', 'finance-ledger-nosuch', urlWithoutTables, 'eu-west-3'],
  ],
  [
    ['list', '--stage', 'dev'],
    { ...CREDENTIALS, AWS_ENDPOINT_URL: urlWithoutTables, TABLE_NAME: 'restored' },
    1,
    ['The table restored does not exist', urlWithoutTables],
  ],
  [
    ['list'],
    { ...CREDENTIALS, DYNAMODB_ENDPOINT: urlWithoutTables, TABLE_NAME: 'nosuch' },
    1,
    ['nosuch', urlWithoutTables, 'eu-west-3', 'DYNAMODB_ENDPOINT'],
  ],
  [
    ['list', '--stage', 'dev'],
    { ...CREDENTIALS, AWS_ENDPOINT_URL: closedUrl },
    1,
    [closedUrl, 'ECONNREFUSED', 'Check AWS_ENDPOINT_URL'],
  ],
  [
    ['list'],
    { ...CREDENTIALS, DYNAMODB_ENDPOINT: closedUrl },
    1,
    [closedUrl, 'ECONNREFUSED', 'Check DYNAMODB_ENDPOINT'],
  ],
  [
    ['list', '--stage', 'dev'],
    WITHOUT_CREDENTIALS,
    1,
    ['finance-ledger-dev', 'AWS_PROFILE', 'aws sts get-caller-identity'],
  ],
  [[], {}, 2, ['Usage: npm run keys -- ']],
  [['list'], { npm_config_stage: 'prod' }, 2, ['npm took --stage prod', 'npm run keys -- ...']],
  [
    ['list', '--stage', 'nosuch'],
    { ...CREDENTIALS, AWS_ENDPOINT_URL: urlWithoutTables, npm_config_stage: 'prod' },
    1,
    ['finance-ledger-nosuch'],
  ],
];

it.each(oneInEvery(3, REFUSED_COMMANDS))(
  'npm run keys with the arguments %j and the environment %j ends with code %i and says what to check',
  async (args, environment, exitCode, expectedWords) => {
    const result = await run(args, environment);
    expect(result).toMatchObject({ code: exitCode, stdout: '' });
    for (const word of expectedWords) expect(result.stderr).toContain(word);
    expect(result.stderr).not.toContain('(outputHelp)');
  },
);

it.each(oneInEvery(3, ['', ' ', 'x'.repeat(101), 'two\nlines', 'a\u0007b', 'a\u2028b']))(
  'npm run keys refuses the key name %j',
  async (name) => {
    const { code, stderr } = await run(['create', '--name', name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Use 1 to 100 characters')]);
  },
);

/** @returns the address of a server that acts as a database without tables and as CloudFormation without stacks */
async function startServerWithoutTables(): Promise<string> {
  const { url, close } = await listen((request, response) => {
    if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
      response.writeHead(400, { 'content-type': 'text/xml' });
      const error = '<Code>ValidationError</Code><Message>Stack does not exist</Message>';
      response.end(`<ErrorResponse><Error>${error}</Error></ErrorResponse>`);
      return;
    }
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end('{"__type":"ResourceNotFoundException","message":"Requested resource not found"}');
  });
  afterAll(close);
  return url;
}

it('npm run keys ignores LEDGER_ID for --help', async () => {
  const { code } = await run(['create', '--help'], { LEDGER_ID: 'a b' });
  expect(code).toBe(0);
});
