// Opens a separate ledger for a measurement. The file of the database is filled before the engine starts. Calls can be measured
// by a metered client.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { openLedger } from '../../cli/ledger/open-ledger.ts';
import type { Category } from '../../lib/ledger/domain/category.ts';
import type { NewTransaction, Transaction } from '../../lib/ledger/domain/transaction.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { embeddedEngine, startOnPort } from '../../local/engine.ts';
import type { Progress } from '../progress.ts';
import { formatNumber } from '../report.ts';
import type { BenchRun } from './bench-run.ts';
import { createHouseholdLedger } from './household-ledger.ts';
import { importExport, writeExport } from './imported-database.ts';
import { createLedgerItems } from './ledger-items.ts';
import { createMeteredClient, type MeteredClient } from './metered-client.ts';

export interface LedgerContents {
  readonly categories: readonly Category[];
  readonly transactions: Iterable<Transaction>;
}

export interface LedgerAddress {
  readonly endpoint: string;
  readonly tableName: string;
  readonly ledgerId: string;
}

export interface BenchLedger {
  readonly address: LedgerAddress;
  readonly client: DynamoDBDocumentClient;
  /** The ledger as a deployed function would open it. */
  readonly ledger: Ledger;
  /** The same ledger, but its calls go through the meter. */
  readonly metered: Ledger;
  readonly meter: MeteredClient;
}

export const LAST_DAY = '2026-06-30';

/** The transaction that a measured create adds. */
export const PURCHASE: NewTransaction = {
  description: 'Supermarket',
  amount: 23.4,
  type: 'expense',
  categoryId: 7,
  date: LAST_DAY,
  notes: null,
};
const SEED = 20_260_630;

/** Generates a household's transactions. They are always the same for the same number of transactions and years. */
export function createHousehold(transactions: number, years: number): LedgerContents {
  return createHouseholdLedger({ transactions, years, lastDay: LAST_DAY, seed: SEED });
}

/**
 * Fills a database with the contents, starts the engine, and opens the ledger.
 * @param rows number of transactions in the contents, for progress messages
 */
export async function openBenchLedger(
  run: BenchRun,
  { categories, transactions }: LedgerContents,
  rows: number,
): Promise<BenchLedger> {
  const tableName = 'ledger';
  const ledgerId = 'default';
  run.progress.start(`generating ${formatNumber(rows)} transactions`, rows);
  const items = createLedgerItems(ledgerId, categories);
  const rowsThenSummary = concatenate(
    trackProgress(items.rows(transactions), run.progress),
    items.summary(),
  );
  const ledgerExport = await writeExport(
    await run.resources.createTemporaryFolder('ledger-bench-'),
    tableName,
    rowsThenSummary,
  );
  run.progress.start('loading them into the engine', 1);
  const folder = await importExport(ledgerExport);
  run.progress.done();
  const { endpoint } = await startOnPort(run.resources, embeddedEngine, folder);
  const client = createDocumentClient(endpoint);
  run.resources.onStop(() => client.destroy());
  const meter = createMeteredClient(client);
  const settings = { tableName, ledgerId, timeZone: 'UTC' };
  return {
    address: { endpoint, tableName, ledgerId },
    client,
    ledger: openLedger({ client, ...settings }),
    metered: openLedger({ client: meter, ...settings }),
    meter,
  };
}

function* trackProgress<Item>(items: Iterable<Item>, progress: Progress): Generator<Item> {
  for (const item of items) {
    yield item;
    progress.step();
  }
}

function* concatenate<Item>(...parts: readonly Iterable<Item>[]): Generator<Item> {
  for (const part of parts) yield* part;
}
