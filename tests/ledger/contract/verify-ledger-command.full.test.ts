// `npm run verify-ledger` as a person runs it: exit code, lines, JSON, and the database that it reads.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ensureTable } from '../../../local/create-table.ts';
import { openDataFolder } from '../../../local/data-folder.ts';
import { startDatabase } from '../../../local/engine.ts';
import { createResources } from '../../../processes/resources.ts';
import { openCloudFormation } from '../../shared/support/cloud-formation.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { DRIFT, openVerifyLedger } from '../support/verify-ledger-command.ts';

const { verifyLedger, givenAccount } = await openVerifyLedger();

const NOWHERE = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };

describe('verify-ledger', () => {
  it.each<[string, NodeJS.ProcessEnv, string[], string]>([
    ['a missing folder', { DATA_DIR: '/nowhere' }, [], '/nowhere does not exist'],
    [
      'an AWS address',
      { DYNAMODB_ENDPOINT: 'https://dynamodb.eu-west-1.amazonaws.com' },
      [],
      'AWS',
    ],
    ['two databases', NOWHERE, ['--stage', 'dev'], '--stage'],
    ['a stage without a name', {}, ['--stage', 'a b'], '--stage'],
    ['an unknown option', {}, ['--mend'], '--mend'],
  ])('exits with 2 for %s', async (_, environment, options, message) => {
    const { code, stdout, stderr } = await verifyLedger(environment, ...options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });
});

describe('AWS', () => {
  it('is read and repaired with --stage', async () => {
    const account = await givenAccount();
    expect((await verifyLedger(account, '--stage', 'prod', '--repair')).stdout).toContain(
      `repaired: ${DRIFT}`,
    );
    const after = await verifyLedger(account, '--stage', 'prod');
    const stderr = expect.stringMatching(/at most 160 read units/);
    expect(after).toMatchObject({ code: 0, stderr });
    const full = await verifyLedger(account, '--stage', 'prod', '--full');
    expect(full).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Reading all of/) });
  });

  it("is read from the table that the stage's stack names", async () => {
    const { TABLE_NAME: _, ...account } = await givenAccount();
    onTestFinished(() => void vi.unstubAllEnvs());
    const { url } = await openCloudFormation({ TableName: 'restored' });
    const environment = { ...account, AWS_ENDPOINT_URL_CLOUDFORMATION: url };
    const result = await verifyLedger(environment, '--stage', 'dev');
    const stderr = expect.stringContaining('restored does not exist');
    expect(result).toMatchObject({ code: 2, stderr });
  });
});

describe('the data folder of npm start', () => {
  it('is verified while npm start uses it, and afterwards', async () => {
    const folder = await createTemporaryFolder();
    const start = createResources();
    onTestFinished(start.stop);
    const { recordEndpoint, release } = openDataFolder(folder);
    start.onStop(release);
    const { endpoint } = await startDatabase(start, folder);
    await ensureTable(endpoint, 'finance-ledger-local');
    recordEndpoint(endpoint);
    expect((await verifyLedger({ DATA_DIR: folder })).stdout).toContain('in order');
    await start.stop();
    expect((await verifyLedger({ DATA_DIR: folder })).stdout).toContain('in order');
  });
});
