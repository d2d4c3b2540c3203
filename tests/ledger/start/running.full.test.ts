// The start command in normal use: it reports when it is ready, serves requests, keeps data, and runs twice at the same time.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createLocalClient, ensureTable } from '../../../local/create-table.ts';
import { startDatabase } from '../../../local/engine.ts';
import { findFreePort } from '../../../processes/free-port.ts';
import { listDescendants } from '../../shared/support/process-tree.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { createResourcesInTest, startInTest } from '../support/resources-in-test.ts';

let folder: string;

beforeEach(async () => {
  folder = await createTemporaryFolder();
});

async function createCategory(url: string, name: string): Promise<number> {
  const body = JSON.stringify({ name });
  return (await fetch(`${url}/categories`, { method: 'POST', body })).status;
}

async function listCategoryNames(url: string): Promise<string[]> {
  const response = await fetch(`${url}/categories`);
  const { data } = (await response.json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
}

it('npm start keeps what it acknowledged before it was killed', async () => {
  const environment = { DATA_DIR: join(folder, 'made', 'on', 'the', 'way') };
  const first = await startInTest({ environment });
  expect(await createCategory(await first.ready, 'Rent')).toBe(201);
  process.kill(first.child.pid, 'SIGKILL');
  await first.child.stop();
  const second = await startInTest({ environment });
  expect(await listCategoryNames(await second.ready)).toEqual(['Rent']);
});

it.each([
  ['a folder', () => folder],
  ['memory', () => 'memory'],
])(
  'npm start prints commands that work unchanged with required keys and data in %s',
  async (_, dataDir) => {
    const environment = { DATA_DIR: dataDir(), AUTH: 'required' };
    const { lines, port } = await startInTest({ environment });
    const findCommandAfter = (label: RegExp) =>
      lines.flatMap((line) => label.exec(line)?.[1] ?? []).join('');
    await expect.poll(() => findCommandAfter(/^Try: +(curl .*?) {3}/)).not.toBe('');
    const script = `${findCommandAfter(/needs an API key: (.*)/)}; ${findCommandAfter(/^Try: +(curl .*?) {3}/)}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      env: { ...process.env, ...environment, PORT: String(port) },
    });
    expect(JSON.parse(stdout)).toMatchObject({ success: true, data: [] });
  },
);

it('npm start runs twice side by side, even if started at the same instant', async () => {
  const [first, second] = await Promise.all([startInTest(), startInTest()]);
  const [firstUrl, secondUrl] = await Promise.all([first.ready, second.ready]);
  expect(await createCategory(firstUrl, 'Only here')).toBe(201);
  expect(await listCategoryNames(firstUrl)).toEqual(['Only here']);
  expect(await listCategoryNames(secondUrl)).toEqual([]);
});

it('only one of two starts on a port becomes ready, and it keeps working', async () => {
  const environment = { PORT: String(await findFreePort()) };
  const starts = await Promise.all([startInTest({ environment }), startInTest({ environment })]);
  const outcomes = await Promise.allSettled(starts.map(({ ready }) => ready));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const [winner, loser] = outcomes[0]?.status === 'fulfilled' ? starts : starts.toReversed();
  await loser?.child.stop();
  expect(await loser?.child.ended).toBe('ended with exit code 1');
  expect(loser?.lines).toEqual([expect.stringMatching(/^Port \d+ is in use; /)]);
  const url = (await winner?.ready) ?? '';
  expect(await createCategory(url, 'Still here')).toBe(201);
  expect(await listCategoryNames(url)).toEqual(['Still here']);
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
});

it('npm start uses the database of DYNAMODB_ENDPOINT, starts none, and creates a missing table', async () => {
  const { endpoint } = await startDatabase(createResourcesInTest());
  const environment = { DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: 'other-table' };
  const first = await startInTest({ environment });
  expect(await createCategory(await first.ready, 'Kept there')).toBe(201);
  expect(listDescendants(first.child.pid).filter(isEngine)).toEqual([]);
  await first.child.stop();
  const second = await startInTest({ environment });
  expect(await listCategoryNames(await second.ready)).toEqual(['Kept there']);
});

function isEngine({ command }: { command: string }): boolean {
  return command.includes('dynoxide');
}

it('npm start converts data of an earlier release before it accepts requests, and deletes what has expired', async () => {
  const { endpoint } = await startDatabase(createResourcesInTest());
  const tableName = 'finance-ledger-local';
  await ensureTable(endpoint, tableName);
  const client = createLocalClient(endpoint);
  onTestFinished(() => client.destroy());
  const put = (pk: string, attributes: Record<string, AttributeValue> = {}) =>
    client.send(
      new PutItemCommand({
        TableName: tableName,
        Item: { pk: { S: pk }, sk: { S: '-' }, ...attributes },
      }),
    );
  await put(`user-${'A'.repeat(43)}#SEQUENCES`, { last: { N: '7' } });
  await put('default#IDEMPOTENCY', { expires_at: { N: '1' } });
  const { ready, lines } = await startInTest({ environment: { DYNAMODB_ENDPOINT: endpoint } });
  await ready;
  const listStoredPks = async () => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    return Items.map(({ pk }) => pk?.S).toSorted();
  };
  await expect.poll(listStoredPks).toEqual([`${'0'.repeat(22)}#SEQUENCES`, '@FORM', '@LEDGERS']);
  expect(lines).toContain('converted the data of an earlier release with 3 changes');
});
