// Imports a bank's file: the importer reads it and says what it would do, rows go to the service a hundred at a time, and an
// import can be undone. A lost connection is waited for; a reload in the middle loses nothing, because importing the same file
// again adds only the missing rows.
import { signal } from '@preact/signals';
import { MAX_ROWS_OF_PART } from '../../lib/ledger/domain/import-part.ts';
import type { Change, LedgerRow } from '../../lib/ledger/import/plan.ts';
import type {
  CategorisedPlan,
  StoredLedger,
} from '../../lib/ledger/import/plan-with-categories.ts';
import type { RecordedImport } from '../../lib/ledger/import/recorded-rows.ts';
import type { Statement, StatementOptions } from '../../lib/ledger/import/statement.ts';
import type { StatementRow } from '../../lib/ledger/import/transaction-row.ts';
import { ApiError } from './api-error.ts';
import { call } from './client.ts';
import {
  announcement,
  categories,
  ensureCategory,
  go,
  me,
  readLedgerRows,
  refresh,
} from './ledger.ts';
import type { Row } from './rows.ts';

export interface Preview {
  readonly stage: 'preview';
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly options: StatementOptions;
  /** Undefined where the file cannot be read: `problem` says why. */
  readonly reading: (CategorisedPlan & { readonly statement: Statement }) | undefined;
  readonly problem: string;
}

interface Progress {
  readonly stage: 'reading' | 'sending' | 'undoing';
  readonly name: string;
  readonly done: number;
  readonly total: number;
}

export interface Done {
  readonly stage: 'done';
  readonly name: string;
  readonly importId: string;
  readonly created: number;
  /** Transactions that an edited export has changed. */
  readonly changed: number;
  readonly present: number;
  /** Possible duplicates that were not imported. */
  readonly leftOut: number;
  readonly refused: readonly string[];
  /** Period of the imported rows; undefined if there are none. */
  readonly period: string | undefined;
}

export const importing = signal<Preview | Progress | Done | undefined>(undefined);
/** The service did not answer the last attempt. */
export const isWaiting = signal(false);

const STORED_LAYOUTS = 'layouts';
const MAX_BULK_ITEMS = 100;
const MAX_IMPORT_ID_LENGTH = 64;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
const MAX_RECORDINGS = 20;
const PRECONDITION_FAILED = 412;

type Importer = typeof import('./importer.ts');
let importer: Promise<Importer> | undefined;

/** Its address has the hash of its deployment, and is an attribute of this page's script element. */
function loadImporter(): Promise<Importer> {
  const script = document.querySelector<HTMLElement>('script[data-importer]');
  importer ??= import(script?.dataset.importer ?? '').catch((error) => {
    importer = undefined;
    throw error;
  });
  return importer;
}

export async function openFile(file: File): Promise<void> {
  importing.value = { stage: 'reading', name: file.name, done: 0, total: 0 };
  const bytes = new Uint8Array(await file.arrayBuffer());
  await preview({ name: file.name, bytes, options: {} });
}

let stored: StoredLedger = { rows: [], categories: [], imports: [] };

/** Reads the file again with these options; the ledger is read for the first reading alone. */
export async function preview(
  given: Pick<Preview, 'name' | 'bytes' | 'options'>,
  { isAgain = false } = {},
): Promise<void> {
  const { bytes, options } = given;
  try {
    const { readStatement, planWithCategories } = await loadImporter();
    if (!isAgain) stored = await readStored();
    const statement = await readStatement(bytes, { ...options, layouts: readLayouts() });
    const isAccountKnown = Boolean(options.account) || options.isAsItIs === true;
    const choices = { isLearning: true, rules: [], isAccountKnown };
    const reading = { statement, ...planWithCategories(statement, stored, choices) };
    importing.value = { stage: 'preview', ...given, reading, problem: '' };
    announcement.value = `${given.name}: ${reading.plan.missing.length} new transactions`;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    importing.value = { stage: 'preview', ...given, reading: undefined, problem };
  }
}

async function readStored(): Promise<StoredLedger> {
  const [rows, imports] = await Promise.all([readLedgerRows(), readRecordedImports()]);
  return {
    rows: rows.map(toLedgerRow),
    imports,
    categories: categories.value.map(({ name, is_active: isActive }) => ({ name, isActive })),
  };
}

interface ImportsPage {
  readonly data: readonly { readonly import_id: string; readonly rows: readonly string[] }[];
  readonly next: string | null;
}

/** The parts of an import stay apart: together they say what it has added. */
async function readRecordedImports(): Promise<readonly RecordedImport[]> {
  const found: RecordedImport[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: ImportsPage = await call<ImportsPage>(next ? `/imports?${next}` : '/imports');
    found.push(...page.data.map(({ import_id: importId, rows }) => ({ importId, rows })));
    next = page.next;
  }
  return found;
}

/** Records the rows that the import has added, so that one that is deleted by hand does not return with the next file. */
async function record(importId: string, rows: readonly string[], parts = 0): Promise<void> {
  const count = Math.max(parts, Math.ceil(rows.length / MAX_ROWS_OF_PART));
  for (let part = 1; part <= count; part += 1) {
    const some = rows.slice((part - 1) * MAX_ROWS_OF_PART, part * MAX_ROWS_OF_PART);
    const body = { import_id: importId, part, rows: some };
    await untilAnswered(() => call('/imports', { method: 'PUT', body }));
  }
}

export interface ImportChoices {
  readonly withDuplicates: boolean;
  /** True if the changes of an edited export are applied. */
  readonly withChanges: boolean;
}

export async function runImport({ name, reading }: Preview, choices: ImportChoices): Promise<void> {
  if (!reading) return;
  const { statement, plan } = reading;
  const doubtful = new Set(
    choices.withDuplicates ? [] : plan.possibleDuplicates.map(({ row }) => row),
  );
  const rows = plan.missing.filter((row) => !doubtful.has(row));
  const changes = choices.withChanges ? plan.changes : [];
  const importId = newImportId(name);
  const total = rows.length + changes.length;
  const onProgress = (done: number) => {
    importing.value = { stage: 'sending', name, done, total };
  };
  onProgress(0);
  try {
    const sent = await sendRows(rows, importId, onProgress);
    const updated = await applyChanges(changes, (done) => onProgress(rows.length + done));
    const period = choosePeriod([...rows, ...changes.map(({ row }) => row)]);
    const unread = [...statement.refused, ...plan.refused].map(
      ({ line, message }) => `Line ${line}: ${message}`,
    );
    const refused = [...unread, ...sent.refused, ...updated.refused];
    importing.value = {
      stage: 'done',
      ...{ name, importId, period, created: sent.created, changed: updated.changed },
      ...{ present: plan.present + sent.present, leftOut: doubtful.size, refused },
    };
    if (period) go({ period, category: undefined, type: undefined, q: '' });
    announcement.value = `${sent.created} transactions imported`;
    rememberLayout(statement);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    importing.value = {
      ...{ stage: 'preview', name, bytes: new Uint8Array(), options: {}, reading: undefined },
      problem: `The import broke off: ${problem} Choose the file again: what is there already is not added twice.`,
    };
  }
  refresh();
}

/** The month of the rows, or their first and last day. */
function choosePeriod(rows: readonly StatementRow[]): string | undefined {
  const days = rows.map(({ date }) => date).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return undefined;
  return first.slice(0, 7) === last.slice(0, 7) ? first.slice(0, 7) : `${first}..${last}`;
}

interface Sent {
  readonly created: number;
  readonly present: number;
  readonly refused: readonly string[];
}

async function sendRows(
  rows: readonly StatementRow[],
  importId: string,
  onProgress: (done: number) => void,
): Promise<Sent> {
  const { toTransactionBody, recordRow } = await loadImporter();
  const categoryIds = await ensureCategories(rows);
  const toBody = (row: StatementRow) => ({
    ...toTransactionBody(row),
    import_id: importId,
    category_id: categoryIds.get(row.category) ?? null,
  });
  const refused: string[] = [];
  const added: StatementRow[] = [];
  let present = 0;
  const between = Math.ceil(rows.length / MAX_RECORDINGS);
  let recorded = 0;
  for (let first = 0; first < rows.length; first += MAX_BULK_ITEMS) {
    const some = rows.slice(first, first + MAX_BULK_ITEMS);
    for (const result of await sendBulk('POST', '/transactions/bulk', some.map(toBody))) {
      const row = some[result.index];
      if (row && result.status < 300) added.push(row);
      else if (result.status === 409) present += 1;
      else refused.push(`Line ${row?.line}: ${describeRefusal(result)}`);
    }
    const done = first + some.length;
    onProgress(done);
    // Again and again: an import that is interrupted knows the rows that are deleted by hand before it is repeated.
    if (done < rows.length && added.length - recorded < between) continue;
    recorded = added.length;
    await record(
      importId,
      added.flatMap((row) => recordRow(row) ?? []),
    );
  }
  return { created: added.length, present, refused };
}

/** The ids of the categories that the rows name, created where they are missing. */
async function ensureCategories(
  rows: readonly StatementRow[],
): Promise<ReadonlyMap<string | null, number>> {
  const ids = new Map<string | null, number>();
  for (const name of new Set(rows.flatMap(({ category }) => category ?? [])))
    ids.set(name, (await untilAnswered(() => ensureCategory(name))).id);
  return ids;
}

/** Each change is made only where the transaction is still as it was exported. */
async function applyChanges(
  changes: readonly Change[],
  onProgress: (done: number) => void,
): Promise<{ readonly changed: number; readonly refused: readonly string[] }> {
  const { changedSince, toChangeBody } = await loadImporter();
  const moved = changes.filter(({ fields }) => fields.includes('category'));
  const categoryIds = await ensureCategories(moved.map(({ row }) => row));
  const refused: string[] = [];
  for (let first = 0; first < changes.length; first += MAX_BULK_ITEMS) {
    const some = changes.slice(first, first + MAX_BULK_ITEMS);
    const bodies = some.map((each) =>
      toChangeBody(each, categoryIds.get(each.row.category) ?? null),
    );
    for (const result of await sendBulk('PUT', '/transactions/bulk', bodies)) {
      const change = some[result.index];
      if (!change || result.status < 300) continue;
      const { row, there } = change;
      const isChanged = result.status === PRECONDITION_FAILED;
      refused.push(
        `Line ${row.line}: ${isChanged ? changedSince(there.id) : describeRefusal(result)}`,
      );
    }
    onProgress(first + some.length);
  }
  return { changed: changes.length - refused.length, refused };
}

/** Deletes the rows that the import has created and that were not changed since; a category alone is no change. */
export async function undoImport(importId: string, name: string): Promise<void> {
  const { createRecordedRows, keepRecords } = await loadImporter();
  const rows = await untilAnswered(() => readLedgerRows(importId));
  const records = (await untilAnswered(readRecordedImports)).filter(
    (each) => each.importId === importId,
  );
  const { isOnlyCategorised } = createRecordedRows(records);
  const { edited = [], unedited = [] } = Object.groupBy(rows, (row) =>
    row.updated_at === row.created_at || isOnlyCategorised(toLedgerRow(row))
      ? 'unedited'
      : 'edited',
  );
  let stayed = edited.map(({ description }) => `${description}: it was changed since.`);
  const left = [...edited];
  for (let first = 0; first < unedited.length; first += MAX_BULK_ITEMS) {
    importing.value = { stage: 'undoing', name, done: first, total: unedited.length };
    const some = unedited.slice(first, first + MAX_BULK_ITEMS);
    const items = some.map(({ id, etag }) => ({ id, if_match: etag }));
    const results = await sendBulk('POST', '/transactions/bulk/delete', items);
    for (const result of results.filter(({ status }) => status >= 300 && status !== 404)) {
      const row = some[result.index];
      if (row) left.push(row);
      stayed = [...stayed, `${row?.description}: ${describeRefusal(result)}`];
    }
  }
  // Rows that an undo has removed were not deleted by hand: the next import brings them again.
  const kept = keepRecords(
    records.flatMap((each) => each.rows),
    left.map(toLedgerRow),
  );
  await record(importId, kept, records.length);
  importing.value = undefined;
  announcement.value = `${rows.length - stayed.length} transactions taken back`;
  leftAfterUndo.value = stayed.length > 0 ? stayed : undefined;
  refresh();
}

/** Rows of an undone import that stay. */
export const leftAfterUndo = signal<readonly string[] | undefined>(undefined);

export function closeImport(): void {
  importing.value = undefined;
  leftAfterUndo.value = undefined;
}

interface BulkResult {
  readonly index: number;
  readonly status: number;
  readonly message?: string;
  readonly details?: Readonly<Record<string, readonly string[]>>;
}

/** Uses one key for all attempts: a repetition completes the items that were interrupted, and repeats the other answers. */
async function sendBulk(
  method: 'POST' | 'PUT',
  path: string,
  transactions: readonly object[],
): Promise<readonly BulkResult[]> {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  return await untilAnswered(async () => {
    const request = { method, body: { transactions }, headers } as const;
    const { data } = await call<{ data: { results: readonly BulkResult[] } }>(path, request);
    if (data.results.some(({ status }) => status >= 500))
      throw new ApiError('The service did not finish.');
    return data.results;
  });
}

async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await ask();
      isWaiting.value = false;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError && error.isRetryable)) throw error;
      isWaiting.value = true;
      const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      await waitForConnection(pause);
    }
  }
}

/** Until the device is online again, or for this time. */
async function waitForConnection(milliseconds: number): Promise<void> {
  const over = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    addEventListener('online', resolve, { signal: over.signal });
  });
  over.abort();
}

function describeRefusal({ message = '', details = {} }: BulkResult): string {
  return [message, ...Object.entries(details).flat(2)].join(' ');
}

/** Holds the time and the file's name. */
function newImportId(name: string): string {
  const time = new Date().toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
  const plain = name.replace(/[^\p{L}\p{N}._-]+/gu, '-');
  return [...`${time}-${plain}`].slice(0, MAX_IMPORT_ID_LENGTH).join('');
}

type LayoutsByLedger = Readonly<Record<string, NonNullable<StatementOptions['layouts']>>>;

function readAllLayouts(): LayoutsByLedger {
  try {
    return JSON.parse(localStorage.getItem(STORED_LAYOUTS) ?? '{}');
  } catch {
    return {};
  }
}

function readLayouts() {
  return readAllLayouts()[me.value?.ledger ?? ''] ?? {};
}

function rememberLayout({ layout }: Statement): void {
  if (!layout || Object.keys(layout.used).length === 0) return;
  writeLayouts({ ...readLayouts(), [layout.key]: layout.used });
}

export function forgetLayout({ layout }: Statement): void {
  if (!layout) return;
  const { [layout.key]: _, ...others } = readLayouts();
  writeLayouts(others);
}

function writeLayouts(layouts: NonNullable<StatementOptions['layouts']>): void {
  const all = { ...readAllLayouts(), [me.value?.ledger ?? '']: layouts };
  localStorage.setItem(STORED_LAYOUTS, JSON.stringify(all));
}

function toLedgerRow(row: Row): LedgerRow {
  const { description, amount, type, notes, etag } = row;
  return {
    ...{ description, amount, type, notes, etag },
    date: row.transaction_date,
    category: row.category_name ?? null,
    externalId: row.external_id ?? null,
    importId: row.import_id ?? null,
    id: String(row.id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
