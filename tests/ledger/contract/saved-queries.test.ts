// Compares the saved CloudWatch queries with log lines of the service: the filters of each query find the lines that the query is
// for, and those lines have every field that the query names. The queries themselves are not run: a person approves their other
// parts in tests/shared/wiring/approved/migrating.yml.
import { beforeAll, expect, it, vi } from 'vitest';
import { createKeys } from '../../../lib/ledger/store/keys.ts';
import type { Key } from '../../../lib/shared/database.ts';
import { QUERIES } from '../../../serverless/ledger/saved-queries.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createFaultyClient, denied, TEMPORARY_FAULTS } from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';

type Row = Readonly<Record<string, unknown>>;

/** Flattens nested fields into CloudWatch's dotted names, such as `cause.message`. */
function flattenFields(value: object, prefix = ''): Row {
  return Object.entries(value).reduce((fields, [name, part]) => {
    const isObject = part !== null && typeof part === 'object';
    return Object.assign(
      fields,
      isObject ? flattenFields(part, `${prefix}${name}.`) : { [`${prefix}${name}`]: part },
    );
  }, {});
}

const UNREADABLE_PK = createKeys('test').transaction(777).pk;

const lines: Row[] = [];

function captureLine(text: unknown): boolean {
  const fields = flattenFields(JSON.parse(String(text)));
  return lines.push({ ...fields, '@timestamp': lines.length, '@message': String(text) }) > 0;
}

/** Logs a create that is retried after a conflict, a request that fails, and two other requests. */
beforeAll(async () => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'finance-ledger-test');
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(captureLine),
  );
  const { client, tableName } = await createTestTable();
  let writes = 0;
  const conflicting = createFaultyClient(client, (_, name) =>
    name === 'TransactWriteCommand' && writes++ === 0 ? TEMPORARY_FAULTS.conflict : undefined,
  );
  const store = interpose(conflicting, async (_, input) => {
    if ((input as { readonly Key?: Key }).Key?.pk === UNREADABLE_PK) await denied();
  });
  const api = await openInProcess(createServiceOn({ client: store, tableName }));
  await api.post('/transactions', { description: 'Bill', amount: 1, type: 'expense' });
  await api.get('/transactions/777');
  await api.get('/transactions/1');
  await api.get('/transactions/1');
  for (const spy of spies) spy.mockRestore();
  vi.unstubAllEnvs();
});

function isFoundBy(condition: string, row: Row): boolean {
  const [, name = '', operator, value = ''] = /^(\S+) (=|>) (\S+)$/.exec(condition) ?? [];
  const expected = JSON.parse(value);
  return operator === '=' ? row[name] === expected : Number(row[name]) > expected;
}

/** Lists the fields that a query shows, sorts by or sums. */
function listFields(commands: readonly string[]): string[] {
  const text = commands.join(' ').replaceAll(/ as \w+/g, '');
  const computed = commands.flatMap((command) => command.match(/(?<= as )\w+/g) ?? []);
  const keywords = /^(fields|stats|sum|count|by|sort|asc|desc|limit|\d+)$/;
  const names = text.match(/[@\w.]+/g) ?? [];
  return names.filter((name) => !keywords.test(name) && !computed.includes(name));
}

it.each([
  ['slowest', ['request', 'request', 'request', 'request']],
  ['failing', ['Failed to retrieve transaction']],
  ['conflicts', ['request']],
  ['one-request', ['Failed to retrieve transaction', 'request']],
  ['one-ledger', ['request', 'request', 'request', 'request']],
])('%s finds %j, with every field that it names', (name, messages) => {
  const [{ requestId } = {}] = lines.filter(({ level }) => level === 'ERROR');
  const [{ ledger } = {}] = lines;
  const query = String(QUERIES[name])
    .replace('REQUEST_ID', String(requestId))
    .replace('LEDGER', String(ledger));
  const [filters = [], otherCommands = []] = [true, false].map((isFilter) =>
    query.split(' | ').filter((command) => command.startsWith('filter ') === isFilter),
  );
  const matchingLines = lines.filter((row) =>
    filters.every((filter) => isFoundBy(filter.replace('filter ', ''), row)),
  );
  expect(matchingLines.map(({ message }) => message)).toEqual(messages);
  for (const row of matchingLines)
    expect(listFields(otherCommands).filter((each) => row[each] === undefined)).toEqual([]);
});
