// Serves the benchmark's ledger from PostgreSQL over HTTP, for comparison with our service. It works as a service on a single
// machine would: with a connection pool, prepared statements, and one or two statements per request.
// Usage: `node bench/ledger/postgres-service.ts PORT POSTGRES_PORT`.
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import pg from 'pg';

const [port, postgresPort] = process.argv.slice(2).map(Number);
const pool = new pg.Pool({
  ...{ host: '127.0.0.1', port: postgresPort, user: 'bench', database: 'postgres', max: 8 },
});

const ROW = `id::float8 AS id, description, amount::float8 AS amount, type, category_id::float8 AS category_id,
  (SELECT name FROM categories WHERE categories.id = category_id) AS category_name,
  to_char(transaction_date, 'YYYY-MM-DD') AS transaction_date, notes, created_at, updated_at, version`;
const NEWEST_FIRST = 'ORDER BY transaction_date DESC, created_at DESC, id DESC';
const MATCHING_ROWS = `FROM transactions WHERE transaction_date BETWEEN $1 AND $2
  AND (description || ' ' || coalesce(notes, '')) ILIKE $3`;

type RequestBody = Readonly<Record<string, unknown>>;

const HANDLERS: Readonly<
  Record<string, (query: URLSearchParams, body: unknown) => Promise<object>>
> = {
  'GET /transactions': async (query) => {
    const perPage = Number(query.get('per_page'));
    const offset = (Number(query.get('page')) - 1) * perPage;
    const [data, [pagination]] = await Promise.all([
      execute('page', `SELECT ${ROW} FROM transactions ${NEWEST_FIRST} LIMIT $1 OFFSET $2`, [
        perPage,
        offset,
      ]),
      execute('count', 'SELECT count(*)::float8 AS total FROM transactions', []),
    ]);
    return { success: true, data, pagination };
  },
  'GET /transactions/search': async (query) => {
    const values = [query.get('start_date'), query.get('end_date'), `%${query.get('q')}%`];
    const [data, [pagination]] = await Promise.all([
      execute('search', `SELECT ${ROW} ${MATCHING_ROWS} ${NEWEST_FIRST} LIMIT 20`, values),
      execute(
        'found',
        `SELECT count(*)::float8 AS total, sum(amount)::float8 ${MATCHING_ROWS}`,
        values,
      ),
    ]);
    return { success: true, data, pagination };
  },
  'GET /transactions/export.json': async (query) => ({
    success: true,
    data: await execute(
      'export',
      `SELECT ${ROW} FROM transactions WHERE $1::text IS NULL OR type = $1 ORDER BY transaction_date, id`,
      [query.get('type')],
    ),
    next: null,
  }),
  'POST /transactions': async (_, body) => ({
    success: true,
    data: await insert([body as RequestBody]),
  }),
  'POST /transactions/bulk': async (_, body) => ({
    success: true,
    data: { results: await insert((body as { transactions: RequestBody[] }).transactions) },
  }),
};

async function execute(name: string, text: string, values: unknown[]): Promise<object[]> {
  return (await pool.query({ name, text, values })).rows;
}

function insert(rows: readonly RequestBody[]): Promise<object[]> {
  const column = (name: string) => rows.map((row) => row[name] ?? null);
  return execute(
    'insert',
    `INSERT INTO transactions
       SELECT nextval('ids'), description, amount, type, category, day, notes, now(), now(), 1 FROM unnest(
         $1::text[], $2::numeric[], $3::text[], $4::bigint[], $5::date[], $6::text[]
       ) AS sent (description, amount, type, category, day, notes) RETURNING id::float8`,
    ['description', 'amount', 'type', 'category_id', 'transaction_date', 'notes'].map(column),
  );
}

async function reply(request: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const handle = HANDLERS[`${request.method} ${pathname}`];
  if (!handle) return { success: false };
  return await handle(searchParams, request.method === 'POST' ? await json(request) : undefined);
}

await pool.query("CREATE SEQUENCE ids; SELECT setval('ids', (SELECT max(id) FROM transactions))");
createServer(async (request, response) => {
  const body = JSON.stringify(await reply(request));
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}).listen(port, '127.0.0.1', () => console.log('ready'));
