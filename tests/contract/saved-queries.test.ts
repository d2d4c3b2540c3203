// The saved queries, tried on lines that the service writes. Nothing here runs queries of CloudWatch: this file understands as
// much of their language as they use, and refuses the rest.
import { beforeAll, expect, it, vi } from 'vitest';
import { createKeys, type Key } from '../../lib/store/keys.ts';
import { QUERIES } from '../../serverless/saved-queries.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { interpose } from '../support/interposed-client.ts';
import { createTestTable } from '../support/test-table.ts';

type Row = Readonly<Record<string, unknown>>;
type Command = (rows: readonly Row[]) => readonly Row[];

/** By their first word. */
const COMMANDS: Readonly<Record<string, (words: string) => Command>> = {
  fields: (words) => (rows) => rows.map((row) => ({ ...row, shown: pick(row, words.split(', ')) })),
  filter(words) {
    const [, name = '', operator, value = ''] = /^(\S+) (=|>) (\S+)$/.exec(words) ?? [];
    const wanted = JSON.parse(value);
    return (rows) =>
      rows.filter((row) =>
        operator === '=' ? row[name] === wanted : Number(row[name]) > Number(wanted),
      );
  },
  sort(words) {
    const [, name = '', order] = /^(\S+) (asc|desc)$/.exec(words) ?? [];
    const sign = order === 'asc' ? 1 : -1;
    return (rows) =>
      rows.toSorted((one, other) => sign * (Number(one[name]) > Number(other[name]) ? 1 : -1));
  },
  limit: (words) => (rows) => rows.slice(0, Number(words)),
  stats(words) {
    const [, summed = '', sum = '', count = '', by = ''] =
      /^sum\((\w+)\) as (\w+), count\(\*\) as (\w+) by (.+)$/.exec(words) ?? [];
    return (rows) =>
      [...Map.groupBy(rows, (row) => JSON.stringify(pick(row, by.split(', '))))].map(
        ([group, members]) => {
          const total = members.reduce((before, row) => before + Number(row[summed]), 0);
          const shown = { ...JSON.parse(group), [sum]: total, [count]: members.length };
          return { ...shown, shown };
        },
      );
  },
};

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

function run(query: string, lines: readonly Row[]): unknown[] {
  const commands = query.split(' | ').map((command) => {
    const [, name = '', words = ''] = /^(\w+) (.+)$/.exec(command) ?? [];
    return COMMANDS[name]?.(words) ?? expect.fail(`No such command: ${command}`);
  });
  return commands
    .reduce<readonly Row[]>((rows, apply) => apply(rows), lines)
    .map(({ shown }) => shown);
}

/** As CloudWatch finds the fields of a line: `cause.message`. */
function fieldsOf(value: object, prefix = ''): Row {
  return Object.entries(value).reduce((fields, [name, part]) => {
    const isObject = part !== null && typeof part === 'object';
    return Object.assign(
      fields,
      isObject ? fieldsOf(part, `${prefix}${name}.`) : { [`${prefix}${name}`]: part },
    );
  }, {});
}

const UNREADABLE = createKeys('test').transaction(777).pk;

const lines: Row[] = [];

function take(text: unknown): boolean {
  const fields = fieldsOf(JSON.parse(String(text)));
  return lines.push({ ...fields, '@timestamp': lines.length, '@message': String(text) }) > 0;
}

/** A create that meets a conflict and is tried again, a request that fails, and two others. */
beforeAll(async () => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'finance-ledger-test');
  const written = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(take),
  );
  const { client, tableName } = await createTestTable();
  let writes = 0;
  const store = interpose(client, (name, input) => {
    if (name === 'TransactWriteCommand' && writes++ === 0)
      throw Object.assign(new Error('Conflict'), {
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      });
    if ((input as { readonly Key?: Key }).Key?.pk === UNREADABLE)
      throw Object.assign(new Error('Not authorized'), { name: 'AccessDeniedException' });
  });
  const api = await openInProcess(createServiceOn({ client: store, tableName }));
  await api.post('/transactions', { description: 'Bill', amount: 1, type: 'expense' });
  await api.get('/transactions/777');
  await api.get('/transactions/1');
  await api.get('/transactions/1');
  for (const spy of written) spy.mockRestore();
  vi.unstubAllEnvs();
});

it('finds the requests that took longest', () => {
  const found = run(QUERIES.slowest ?? '', lines) as { readonly duration: number }[];
  expect(found).toHaveLength(4);
  expect(Object.values(found[0] ?? {})).not.toContain(undefined);
  const durations = found.map(({ duration }) => duration);
  expect(durations).toEqual(durations.toSorted((one, other) => other - one));
});

it('finds what failed, with its cause', () => {
  expect(run(QUERIES.failing ?? '', lines)).toEqual([
    expect.objectContaining({
      message: 'Failed to retrieve transaction',
      'cause.name': 'AccessDeniedException',
      'cause.message': 'Not authorized',
      requestId: expect.any(String),
    }),
  ]);
});

it('finds the ledger and route of conflicts', () => {
  const ledger = expect.stringMatching(/^[0-9a-f]{12}$/);
  const found = { ledger, route: 'POST /transactions', lost: 1, requests: 1 };
  expect(run(QUERIES.conflicts ?? '', lines)).toEqual([found]);
});

it('finds every line of one request', () => {
  const [{ requestId } = {}] = lines.filter(({ level }) => level === 'ERROR');
  const query = QUERIES['one-request']?.replace('REQUEST_ID', String(requestId));
  const found = run(query ?? '', lines) as { readonly '@message': string }[];
  expect(found.map((line) => JSON.parse(line['@message']).message)).toEqual([
    ...['Failed to retrieve transaction', 'request'],
  ]);
});

it('finds the requests of one ledger, the last first', () => {
  const [{ ledger } = {}] = lines;
  const query = QUERIES['one-ledger']?.replace('LEDGER', String(ledger));
  expect(run(query ?? '', lines)).toMatchObject([
    { route: 'GET /transactions/{id}', status: 200 },
    { route: 'GET /transactions/{id}', status: 200 },
    { route: 'GET /transactions/{id}', status: 500 },
    { route: 'POST /transactions', status: 201 },
  ]);
});
