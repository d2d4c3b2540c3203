// Runs the synchronisation loops of docs/ledger/clients.md, copied exactly, each in its own process. Other clients write
// between any two requests, indexes lag, and the loop is killed. A loop that reports its copy as current must be right.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../../cli/seeded-random.ts';
import { whyPythonUnavailable } from '../../../processes/python-tools.ts';
import { readOutput } from '../../../processes/tools.ts';
import { itInFull, oneInEvery } from '../../shared/support/quick-cases.ts';
import { SEED, scaleCases } from '../../shared/support/seed.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api, ApiClient } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../support/api/records.ts';
import { serve } from '../support/api/serve.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { bulkLoadHousehold } from '../support/bulk-loader.ts';
import { findGuideExample } from '../support/guide-examples.ts';
import { createLaggingTable } from '../support/lagging-table.ts';
import { makeCommand, send } from '../support/model/commands.ts';
import { formatListing, formatModel } from '../support/model/ledger-listing.ts';
import {
  EMPTY_MODEL,
  type Model,
  type ModelCategory,
  type ModelTransaction,
  selectTransactions,
} from '../support/model/ledger-model.ts';
import { applyOutcome } from '../support/model/linearisation.ts';

/** The interpreter itself: a `python3` shim that selects a version takes longer to start than the loop takes to run. */
const PYTHON = readOutput('python3', '-c', 'import sys; print(sys.executable, end="")') ?? '';
const LANGUAGES = [
  { language: 'typescript', program: process.execPath, isMissing: false },
  { language: 'python', program: PYTHON, isMissing: whyPythonUnavailable() !== undefined },
];
const ROUNDS = scaleCases(40);
const HOUSEHOLD_ROWS = scaleCases(20_000);

/** Handles the requests of the programs; each test sets its own service. */
let handleRequest: ApiClient['request'];
const server = await serve(() => ({
  request: (...args) => handleRequest(...args),
  close: async () => {},
}));
afterAll(() => server.close());

for (const { language, program, isMissing } of oneInEvery(2, LANGUAGES)) {
  const open = async () => await openProgram(language, program);
  describe.skipIf(isMissing)(`the synchronisation loop in ${language}`, () => {
    it('has the rows of the ledger whenever it exits with 0, whatever happens between its requests', async () => {
      const { run, readCopy, kill } = await open();
      const ledger = await openBusyLedger(createSeededRandom(SEED));
      const outcomes = new Map<string, number>();
      for (let round = 0; round < ROUNDS || outcomes.size < 3; round += 1) {
        handleRequest = ledger.respondBetweenWrites(kill);
        for (let outcome: string | undefined; outcome !== '0'; ) {
          outcome = await run();
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          if (outcome === '0') expect(formatCopy(readCopy())).toBe(formatModel(ledger.lastRead()));
        }
        await ledger.finishWrites();
        expect(await run()).toBe('0');
        expect(formatCopy(readCopy())).toBe(formatModel(ledger.current()));
      }
      expect([...outcomes.keys()].toSorted()).toEqual(['0', '1', 'SIGKILL']);
      expect(ledger.current().transactions.size).toBeGreaterThan(1);
    });

    it('deletes a month that has no transactions left', async () => {
      const { run, readCopy } = await open();
      const api = await openInProcess(createServiceOn(await createTestTable()));
      await givenTransaction(api, { transaction_date: '2024-02-29' });
      const { id } = await givenTransaction(api, { transaction_date: '2024-03-01' });
      handleRequest = api.request;
      expect(await run()).toBe('0');
      expect(Object.keys(readCopy().months)).toEqual(['2024-02', '2024-03']);
      await api.delete(`/transactions/${id}`);
      expect(await run()).toBe('0');
      expect(Object.keys(readCopy().months)).toEqual(['2024-02']);
    });

    itInFull('copies months without a digest each time, and exits with 1', async () => {
      const { run, readCopy } = await open();
      const api = await openInProcess(createServiceOn(await createTestTable()));
      await givenTransaction(api, { transaction_date: '2024-02-29' });
      handleRequest = async (method, path, options) => {
        const response = await api.request(method, path, options);
        return { ...response, text: response.text.replace(/"digest":"[^"]*"/g, '"digest":null') };
      };
      for (const rows of [1, 2]) {
        expect(await run()).toBe('1');
        expect(readCopy().months['2024-02']?.rows).toHaveLength(rows);
        await givenTransaction(api, { transaction_date: '2024-02-01' });
      }
    });

    itInFull('exits with an error if the service fails, and keeps the copy', async () => {
      const { run, readCopy } = await open();
      const api = await openInProcess(createServiceOn(await createTestTable()));
      await givenTransaction(api);
      handleRequest = api.request;
      expect(await run()).toBe('0');
      const previousCopy = readCopy();
      await givenTransaction(api);
      for (const failingPath of ['/months', '/transactions/export.json', '/categories']) {
        handleRequest = async (method, path, options) =>
          path === failingPath
            ? { status: 500, headers: {}, body: {}, text: '{"success":false}' }
            : await api.request(method, path, options);
        expect(await run()).toContain('Error');
        expect(readCopy().categories).toEqual(previousCopy.categories);
      }
      handleRequest = api.request;
      expect(await run()).toBe('0');
      expect(formatCopy(readCopy()).match(/Lunch/g)).toHaveLength(2);
    });
  });
}

it(`a day of changes in a ledger of ${HOUSEHOLD_ROWS} rows takes at most four requests`, async () => {
  const table = { ...(await createTestTable()), ledgerId: 'household' };
  const household = { transactions: HOUSEHOLD_ROWS, years: 10, lastDay: '2026-03-01', seed: 4 };
  await bulkLoadHousehold(table, household);
  const api = await openInProcess(createServiceOn(table));
  const key = { name: 'copy', ledger: table.ledgerId, scope: 'read' } as const;
  const { secret } = await createTestKeys(table).create(key);
  const { run, readCopy } = await openProgram('typescript', process.execPath, {
    LEDGER_KEY: secret,
  });
  const requests: string[] = [];
  handleRequest = async (method, path, options) => {
    const response = await api.request(method, path, options);
    requests.push(`${path} ${response.status}`);
    return response;
  };
  const runAndListRequests = async () => {
    requests.length = 0;
    expect(await run()).toBe('0');
    return [...requests];
  };
  const countRows = () => formatCopy(readCopy()).match(/"transaction_date"/g)?.length;

  // The first run requests the list of months, the categories, and each month once.
  const { body } = await api.get('/months');
  expect(await runAndListRequests()).toHaveLength(body.data.length + 2);
  expect(countRows()).toBe(HOUSEHOLD_ROWS);
  expect(await runAndListRequests()).toEqual(['/months 200', '/categories 304']);

  // On the first of a month, the day before is in another month.
  for (const amount of [1.1, 2.2, 3.3, 4.4]) {
    await givenTransaction(api, { amount, transaction_date: '2026-03-01' });
  }
  await givenTransaction(api, { transaction_date: '2026-02-28' });
  const { body: march } = await api.get('/transactions', { start_date: '2026-03-01' });
  await api.delete(`/transactions/${march.data[0].id}`);
  await api.put(`/transactions/${march.data[1].id}`, { notes: 'Note' });
  await givenCategory(api);
  const EXPORT = '/transactions/export.json 200';
  expect(await runAndListRequests()).toEqual(['/months 200', EXPORT, EXPORT, '/categories 200']);
  expect(countRows()).toBe(HOUSEHOLD_ROWS + 4);
});

interface Copy {
  readonly months: Readonly<Record<string, { readonly rows: readonly ModelTransaction[] }>>;
  readonly categories: { readonly data: readonly ModelCategory[] };
}

/** Prepares an example of the guide in its own folder, in which the program keeps its copy. */
async function openProgram(language: string, program: string, settings: NodeJS.ProcessEnv = {}) {
  const folder = await createTemporaryFolder();
  const file = language === 'python' ? 'catch_up.py' : 'catch-up.ts';
  await writeFile(join(folder, file), findGuideExample(`${language} catching-up`));
  const env = { ...process.env, ...settings, LEDGER_URL: server.url };
  let child: ReturnType<typeof spawn> | undefined;
  return {
    /** @returns the program's exit code, the signal that ended it, or its error output */
    async run(): Promise<string> {
      const started = spawn(program, [file], {
        cwd: folder,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      const [errorOutput, [code, signal]] = await Promise.all([
        text(started.stderr),
        once(started, 'exit'),
      ]);
      return errorOutput.trim() || String(code ?? signal);
    },
    kill: () => child?.kill('SIGKILL'),
    readCopy: (): Copy => {
      const path = join(folder, 'copy.json');
      return existsSync(path)
        ? JSON.parse(readFileSync(path, 'utf8'))
        : { months: {}, categories: { data: [] } };
    },
  };
}

/** Formats the copy as `formatModel` formats a model, to compare them. */
function formatCopy({ months, categories }: Copy): string {
  const rows = Object.values(months).flatMap((month) => month.rows);
  const model = { ...EMPTY_MODEL, transactions: new Map(rows.map((row) => [row.id, row])) };
  // A copy with duplicate rows is wrong, too.
  expect(model.transactions.size).toBe(rows.length);
  return formatListing(selectTransactions(model, {}), categories.data);
}

/** Opens a ledger to which other clients write between any two requests, while its indexes lag. */
async function openBusyLedger(random: SeededRandom) {
  const table = await createLaggingTable();
  const api = await openInProcess(createServiceOn(table));
  let model = EMPTY_MODEL;
  let lastRead = EMPTY_MODEL;

  async function write(): Promise<void> {
    const command = makeCommand(random, model);
    model = applyOutcome(model, { command, response: await send(api, command) }) ?? model;
  }

  return {
    current: () => model,
    /** The ledger when the client last read the months and the categories */
    lastRead: (): Model => lastRead,
    respondBetweenWrites:
      (kill: () => void): Api['request'] =>
      async (method, path, options) => {
        while (random.chance(0.3)) await write();
        await table.propagate(() => random.chance(0.4));
        const response = await api.request(method, path, options);
        if (path === '/months') lastRead = { ...lastRead, transactions: model.transactions };
        if (path === '/categories') lastRead = { ...lastRead, categories: model.categories };
        if (random.chance(0.1)) kill();
        return response;
      },
    async finishWrites(): Promise<void> {
      await write();
      await table.propagate(() => true);
      handleRequest = api.request;
    },
  };
}
