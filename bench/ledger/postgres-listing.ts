// The same ledger in PostgreSQL, listed the way a PostgreSQL expert would list it.
import pg from 'pg';
import type { Transaction, TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import type { LedgerContents } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import type { ListResult } from './list-result.ts';
import type { PostgresServer } from './postgres-server.ts';

const ROWS_PER_INSERT = 5_000;
const NEWEST_FIRST = 'transaction_date DESC, created_at DESC, id DESC';

const TABLES = `
  CREATE TABLE categories (id bigint PRIMARY KEY, name text NOT NULL UNIQUE);
  CREATE TABLE transactions (
    id bigint PRIMARY KEY,
    description text NOT NULL,
    amount numeric(14, 2) NOT NULL,
    type text NOT NULL,
    category_id bigint REFERENCES categories,
    transaction_date date NOT NULL,
    notes text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    version integer NOT NULL
  )`;

// One index for each kind of filter. Its rows are in the order of the list, so that counts and offsets read only the index.
const INDEXES = `
  CREATE INDEX ON transactions (${NEWEST_FIRST});
  CREATE INDEX ON transactions (type, ${NEWEST_FIRST});
  CREATE INDEX ON transactions (category_id, ${NEWEST_FIRST});
  CREATE INDEX ON transactions (category_id, type, ${NEWEST_FIRST})`;

/** Loads the contents, and creates the indexes and statistics that a database has in production. */
export async function openPostgresListing(
  run: BenchRun,
  server: PostgresServer,
  { categories, transactions }: LedgerContents,
) {
  const pool = new pg.Pool({ host: '127.0.0.1', ...server, max: 4 });
  run.resources.onStop(() => pool.end());
  await pool.query(TABLES);
  await pool.query('INSERT INTO categories SELECT * FROM unnest($1::bigint[], $2::text[])', [
    categories.map(({ id }) => id),
    categories.map(({ name }) => name),
  ]);
  for (const rows of splitIntoChunks(transactions, ROWS_PER_INSERT)) {
    await pool.query(INSERT, toColumns(rows));
    run.progress.step(rows.length);
  }
  await pool.query(INDEXES);
  // Marks pages as visible to all transactions. Without this, PostgreSQL cannot answer from an index alone.
  await pool.query('VACUUM ANALYZE transactions');
  const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');

  /** Queries count and page in parallel. The page's inner query finds only the ids, so that skipped rows are not fetched. */
  async function readPage(
    filter: TransactionFilter,
    offset: number,
    limit: number,
  ): Promise<ListResult> {
    const { where, values } = createConditions(filter);
    const paging = `LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
    const [countResult, pageResult] = await Promise.all([
      pool.query<{ total: string }>({
        name: `count ${where}`,
        text: `SELECT count(*) AS total FROM transactions ${where}`,
        values,
      }),
      pool.query<{ id: string }>({
        name: `page ${where}`,
        text: `
          SELECT transactions.*, categories.name AS category_name
          FROM (SELECT id FROM transactions ${where} ORDER BY ${NEWEST_FIRST} ${paging}) AS page
          JOIN transactions USING (id)
          LEFT JOIN categories ON categories.id = transactions.category_id
          ORDER BY ${NEWEST_FIRST.replace(' id', ' transactions.id')}`,
        values: [...values, limit, offset],
      }),
    ]);
    return {
      total: Number(countResult.rows[0]?.total),
      ids: pageResult.rows.map(({ id }) => Number(id)),
    };
  }

  return { readPage, version: rows[0]?.server_version ?? '' };
}

const INSERT = `
  INSERT INTO transactions SELECT * FROM unnest(
    $1::bigint[], $2::text[], $3::numeric[], $4::text[], $5::bigint[],
    $6::date[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::integer[])`;

function toColumns(rows: readonly Transaction[]): unknown[][] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ description }) => description),
    rows.map(({ amount }) => amount),
    rows.map(({ type }) => type),
    rows.map(({ categoryId }) => categoryId),
    rows.map(({ date }) => date),
    rows.map(({ notes }) => notes),
    rows.map(({ createdAt }) => new Date(createdAt).toISOString()),
    rows.map(({ updatedAt }) => new Date(updatedAt).toISOString()),
    rows.map(({ version }) => version),
  ];
}

function createConditions({ type, categoryId, startDate, endDate }: TransactionFilter) {
  const conditions = [
    ['type =', type],
    ['category_id =', categoryId],
    ['transaction_date >=', startDate],
    ['transaction_date <=', endDate],
  ].filter(([, value]) => value !== undefined);
  const clauses = conditions.map(([comparison], index) => `${comparison} $${index + 1}`);
  return {
    where: clauses.length > 0 ? `WHERE ${clauses.join(' AND ')}` : '',
    values: conditions.map(([, value]) => value),
  };
}

function* splitIntoChunks<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length === size) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}
