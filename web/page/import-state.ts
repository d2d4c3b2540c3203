// The state of an import. Opens a bank's file, and previews which transactions the import would add, change and leave out.
import { signal } from '@preact/signals';
import type { ImportParts } from '../../lib/ledger/http/api-types.ts';
import type {
  CategorisedPlan,
  StoredLedger,
} from '../../lib/ledger/import/plan-with-categories.ts';
import type { RecordedPart } from '../../lib/ledger/import/recorded-rows.ts';
import type { Statement, StatementOptions } from '../../lib/ledger/import/statement.ts';
import type { LedgerRow } from '../../lib/ledger/import/transaction-row.ts';
import { describeFailure } from './api-error.ts';
import { categories } from './category-list.ts';
import { readLayouts } from './file-layouts.ts';
import { format } from './format.ts';
import { callWithKey } from './key-question.ts';
import { announcement, notice } from './ledger.ts';
import type { Row } from './rows.ts';
import { readRows } from './view.ts';

export interface Preview {
  readonly stage: 'preview';
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly options: StatementOptions;
  /** True to import rows again that an earlier import added and a person then deleted. */
  readonly importsDeleted: boolean;
  /** Undefined if the file cannot be read; `problem` then says why. */
  readonly reading: (CategorisedPlan & { readonly statement: Statement }) | undefined;
  readonly problem: string;
}

interface Progress {
  readonly stage: 'reading' | 'sending' | 'undoing';
  readonly name: string;
  readonly done: number;
  readonly total: number;
}

export interface ImportResult {
  readonly stage: 'done';
  readonly name: string;
  readonly importId: string;
  readonly created: number;
  /** Number of transactions changed to match an edited export. */
  readonly changed: number;
  readonly present: number;
  /** Number of created transactions without a category. */
  readonly uncategorised: number;
  /** Number of possible duplicates that were not imported. */
  readonly leftOut: number;
  readonly refused: readonly string[];
  /** Period of the imported rows; undefined if there are none. */
  readonly period: string | undefined;
}

export const currentImport = signal<Preview | Progress | ImportResult | undefined>(undefined);

type Importer = typeof import('./importer.ts');
let importer: Promise<Importer> | undefined;

/** Loads the importer once. Its address contains a hash that only the page knows, as an attribute of its script element. */
export function loadImporter(): Promise<Importer> {
  const script = document.querySelector<HTMLElement>('script[data-importer]');
  importer ??= import(script?.dataset.importer ?? '').catch((error) => {
    importer = undefined;
    throw error;
  });
  return importer;
}

/** Number of the latest preview; closing a preview also increases it. Earlier previews are no longer shown. */
let latestNumber = 0;
/** Number of the preview that is shown. */
let shownNumber = 0;

/** True while transactions are being written: another import, or the undo of one, has to wait. */
export function isImportUnderWay(): boolean {
  const stage = currentImport.peek()?.stage;
  return stage === 'sending' || stage === 'undoing';
}

/** True if this preview is shown, and is not being replaced by one with other options. */
export function isCurrent(state: Preview): boolean {
  return currentImport.peek() === state && shownNumber === latestNumber;
}

export async function openFile(file: File): Promise<void> {
  const { name } = file;
  if (isImportUnderWay()) {
    notice.value = { text: `${name} was not opened: wait until the transactions are written.` };
    return;
  }
  currentImport.value = { stage: 'reading', name, done: 0, total: 0 };
  const readBytes = async () => new Uint8Array(await file.arrayBuffer());
  await preview({ name, bytes: readBytes, options: {}, importsDeleted: false });
}

/** Contents of the ledger when the file was chosen. */
export let storedLedger: StoredLedger = { rows: [], categories: [], imports: [] };

/**
 * Reads the file with these options, and shows what the import would do. `isAgain` reuses the ledger that was read the first
 * time.
 */
export async function preview(
  file: Pick<Preview, 'name' | 'options' | 'importsDeleted'> & {
    readonly bytes: Uint8Array | (() => Promise<Uint8Array>);
  },
  { isAgain = false } = {},
): Promise<void> {
  const { name, options, importsDeleted } = file;
  latestNumber += 1;
  const number = latestNumber;
  let state = {
    ...{ stage: 'preview' as const, name, options, importsDeleted },
    bytes: new Uint8Array() as Uint8Array,
  };
  const show = (result: Pick<Preview, 'reading' | 'problem'>): void => {
    currentImport.value = { ...state, ...result };
    shownNumber = number;
  };
  try {
    const bytes = typeof file.bytes === 'function' ? await file.bytes() : file.bytes;
    state = { ...state, bytes };
    const { readStatement, planWithCategories } = await loadImporter();
    const ledger = isAgain ? storedLedger : await readStored();
    if (number !== latestNumber) return;
    storedLedger = ledger;
    const statement = await readStatement(bytes, { ...options, layouts: readLayouts() });
    const isAccountKnown = Boolean(options.account) || options.isPreviewAccepted === true;
    const { account } = options;
    const choices = { isLearning: true, rules: [], account, isAccountKnown, importsDeleted };
    const reading = { statement, ...planWithCategories(statement, storedLedger, choices) };
    if (number !== latestNumber) return;
    show({ reading, problem: '' });
    announcement.value = `${name}: ${format.counted(reading.plan.missing.length, 'new transaction')}`;
  } catch (error) {
    if (number === latestNumber) show({ reading: undefined, problem: describeFailure(error) });
  }
}

async function readStored(): Promise<StoredLedger> {
  // The records must be read before the rows; `resolvePendingRecords` says why.
  const imports = await readRecordedImports();
  const rows = await readRows({});
  return {
    rows: rows.map(toLedgerRow),
    imports,
    categories: categories.value.map(({ name, is_active: isActive }) => ({ name, isActive })),
  };
}

export async function readRecordedImports(): Promise<readonly RecordedPart[]> {
  const parts: RecordedPart[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: ImportParts = await callWithKey<ImportParts>(
      next ? `/imports?${next}` : '/imports',
    );
    for (const { import_id: importId, part, rows } of page.data)
      parts.push({ importId, part, rows });
    next = page.next;
  }
  return parts;
}

/** A sentence for each row that the undo of an import left in the ledger. */
export const leftAfterUndo = signal<readonly string[] | undefined>(undefined);

export function closeImport(): void {
  latestNumber += 1;
  currentImport.value = undefined;
  leftAfterUndo.value = undefined;
}

export function toLedgerRow(row: Row): LedgerRow {
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
