// Runs an import, and undoes one. Rows are sent to the service a hundred at a time. A reload during an import loses nothing,
// because importing the same file again adds only the missing rows.
import { MAX_BULK_ITEMS } from '../../lib/ledger/domain/transaction.ts';
import { listImportIds, makeImportId } from '../../lib/ledger/import/import-id.ts';
import type { Change, ImportPlan } from '../../lib/ledger/import/plan.ts';
import type { RecordedPart } from '../../lib/ledger/import/recorded-rows.ts';
import type { StatementRow } from '../../lib/ledger/import/transaction-row.ts';
import { describeFailure, PRECONDITION_FAILED } from './api-error.ts';
import { ensureCategory } from './category-writes.ts';
import { call } from './client.ts';
import { rememberLayout } from './file-layouts.ts';
import { format } from './format.ts';
import {
  closeImport,
  currentImport,
  type ImportResult,
  isCurrent,
  leftAfterUndo,
  loadImporter,
  type Preview,
  readRecordedImports,
  storedLedger,
  toLedgerRow,
} from './import-state.ts';
import { announcement, refresh } from './ledger.ts';
import { describeRefusal, sendBulk, untilAnswered } from './repeated-call.ts';
import { readRows } from './view.ts';
import { trackWork } from './work-under-way.ts';

export interface ImportChoices {
  readonly withDuplicates: boolean;
  /** True to apply the changes made in an edited export. */
  readonly withChanges: boolean;
}

/** Does nothing while the preview is read again with other options: the import would use the options that were just corrected. */
export async function runImport(preview: Preview, choices: ImportChoices): Promise<void> {
  const { name, reading, options } = preview;
  if (!reading || !isCurrent(preview)) return;
  try {
    const result = await trackWork(() =>
      sendPlan(reading, { ...choices, name, account: options.account }),
    );
    currentImport.value = result;
    announcement.value = `${format.counted(result.created, 'transaction')} imported`;
    rememberLayout(reading.statement);
  } catch (error) {
    const problem = describeFailure(error);
    currentImport.value = {
      ...{ stage: 'preview', name, bytes: new Uint8Array(), options: {} },
      ...{ importsDeleted: false, reading: undefined },
      problem: `The import stopped: ${problem} Choose the file again: rows that are already in the ledger are not added twice.`,
    };
  }
  refresh();
}

/** Returns the rows that an import creates. */
export function chooseRows(
  { missing, possibleDuplicates }: ImportPlan,
  { withDuplicates }: Pick<ImportChoices, 'withDuplicates'>,
): readonly StatementRow[] {
  const excludedRows = new Set(withDuplicates ? [] : possibleDuplicates.map(({ row }) => row));
  return missing.filter((row) => !excludedRows.has(row));
}

interface SendOptions extends ImportChoices {
  readonly name: string;
  readonly account: string | undefined;
}

async function sendPlan(
  { statement, plan }: NonNullable<Preview['reading']>,
  { name, account, withDuplicates, withChanges }: SendOptions,
): Promise<ImportResult> {
  const rows = chooseRows(plan, { withDuplicates });
  const changes = withChanges ? plan.changes : [];
  const importId = makeImportId(name, listImportIds(storedLedger.rows, storedLedger.imports));
  const total = rows.length + changes.length;
  const onProgress = (done: number) => {
    currentImport.value = { stage: 'sending', name, done, total };
  };
  onProgress(0);
  const sendResult = await sendRows(rows, { importId, account }, onProgress);
  const updateResult = await applyChanges(changes, (done) => onProgress(rows.length + done));
  const refusedLines = [...statement.refused, ...plan.refused].map(
    ({ line, message }) => `Line ${line}: ${message}`,
  );
  return {
    stage: 'done',
    ...{ name, importId, created: sendResult.created, changed: updateResult.changed },
    period: choosePeriod([...rows, ...changes.map(({ row }) => row)]),
    uncategorised: sendResult.uncategorised,
    present: plan.present + sendResult.present,
    leftOut: plan.missing.length - rows.length,
    refused: [...refusedLines, ...sendResult.refused, ...updateResult.refused],
  };
}

/** Chooses the period that shows an import: the month of the rows, or the range from their first to their last day. */
function choosePeriod(rows: readonly StatementRow[]): string | undefined {
  const days = rows.map(({ date }) => date).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return undefined;
  return first.slice(0, 7) === last.slice(0, 7) ? first.slice(0, 7) : `${first}..${last}`;
}

interface SendResult {
  readonly created: number;
  readonly uncategorised: number;
  readonly present: number;
  readonly refused: readonly string[];
}

async function sendRows(
  rows: readonly StatementRow[],
  { importId, account }: { readonly importId: string; readonly account: string | undefined },
  onProgress: (done: number) => void,
): Promise<SendResult> {
  const { toTransactionBody, createRecorder, resolvePendingRecords } = await loadImporter();
  const readParts = () => untilAnswered(readRecordedImports);
  await resolvePendingRecords(storedLedger, { readParts, writePart });
  const recorder = createRecorder({ importId, total: rows.length, account }, writePart);
  const categoryIds = await ensureCategories(rows);
  const toBody = (row: StatementRow) => ({
    ...toTransactionBody(row),
    import_id: importId,
    category_id: categoryIds.get(row.category) ?? null,
  });
  const refused: string[] = [];
  const createdRows: StatementRow[] = [];
  let present = 0;
  for (let start = 0; start < rows.length; start += MAX_BULK_ITEMS) {
    const batch = rows.slice(start, start + MAX_BULK_ITEMS);
    await recorder.announce(batch);
    const createdInBatch: StatementRow[] = [];
    for (const result of await sendBulk('POST', '/transactions/bulk', batch.map(toBody))) {
      const row = batch[result.index];
      if (row && result.status < 300) createdInBatch.push(row);
      else if (result.status === 409) present += 1;
      else refused.push(`Line ${row?.line}: ${describeRefusal(result)}`);
    }
    await recorder.confirm(createdInBatch);
    createdRows.push(...createdInBatch);
    onProgress(start + batch.length);
  }
  await recorder.close();
  const uncategorised = createdRows.filter(({ category }) => category === null).length;
  return { created: createdRows.length, uncategorised, present, refused };
}

/** Returns the ids of the categories that the rows name, and creates missing categories. */
async function ensureCategories(
  rows: readonly StatementRow[],
): Promise<ReadonlyMap<string | null, number>> {
  const ids = new Map<string | null, number>();
  for (const name of new Set(rows.flatMap(({ category }) => category ?? [])))
    ids.set(name, (await untilAnswered(() => ensureCategory(name))).id);
  return ids;
}

/** Applies each change only if the transaction has not changed since it was exported. */
async function applyChanges(
  changes: readonly Change[],
  onProgress: (done: number) => void,
): Promise<{ readonly changed: number; readonly refused: readonly string[] }> {
  const { describeChangedRecord, toChangeBody } = await loadImporter();
  const recategorisedChanges = changes.filter(({ fields }) => fields.includes('category'));
  const categoryIds = await ensureCategories(recategorisedChanges.map(({ row }) => row));
  const refused: string[] = [];
  for (let start = 0; start < changes.length; start += MAX_BULK_ITEMS) {
    const batch = changes.slice(start, start + MAX_BULK_ITEMS);
    const bodies = batch.map((each) =>
      toChangeBody(each, categoryIds.get(each.row.category) ?? null),
    );
    for (const result of await sendBulk('PUT', '/transactions/bulk', bodies)) {
      const change = batch[result.index];
      if (!change || result.status < 300) continue;
      const { row, transaction } = change;
      const wasTransactionChanged = result.status === PRECONDITION_FAILED;
      refused.push(
        `Line ${row.line}: ${wasTransactionChanged ? describeChangedRecord(transaction.id) : describeRefusal(result)}`,
      );
    }
    onProgress(start + batch.length);
  }
  return { changed: changes.length - refused.length, refused };
}

/**
 * Deletes the rows that the import created, except rows that were edited since. Choosing a category does not count as an edit.
 */
export async function undoImport(importId: string, name: string): Promise<void> {
  await trackWork(() => removeImportedRows(importId, name));
}

async function removeImportedRows(importId: string, name: string): Promise<void> {
  closeImport();
  currentImport.value = { stage: 'undoing', name, done: 0, total: 0 };
  const { announceRemoval, createRecordedRows, keepRecords } = await loadImporter();
  const rows = await untilAnswered(() => readRows({ import_id: importId }));
  const records = (await untilAnswered(readRecordedImports)).filter(
    (each) => each.importId === importId,
  );
  const { isOnlyCategorised } = createRecordedRows(records);
  const { edited = [], unedited = [] } = Object.groupBy(rows, (row) =>
    row.updated_at === row.created_at || isOnlyCategorised(toLedgerRow(row))
      ? 'unedited'
      : 'edited',
  );
  for (const part of announceRemoval(records, edited.map(toLedgerRow))) await writePart(part);
  const reasons = edited.map(({ description }) => `${description}: it has since been changed.`);
  const remainingRows = [...edited];
  for (let start = 0; start < unedited.length; start += MAX_BULK_ITEMS) {
    currentImport.value = { stage: 'undoing', name, done: start, total: unedited.length };
    const batch = unedited.slice(start, start + MAX_BULK_ITEMS);
    const items = batch.map(({ id, etag }) => ({ id, if_match: etag }));
    const results = await sendBulk('POST', '/transactions/bulk/delete', items);
    for (const result of results.filter(({ status }) => status >= 300 && status !== 404)) {
      const row = batch[result.index];
      if (row) remainingRows.push(row);
      reasons.push(`${row?.description}: ${describeRefusal(result)}`);
    }
  }
  // Keeps only the records of rows that stay. The next import must add the removed rows again, because they were not deleted by
  // hand.
  for (const part of keepRecords(records, remainingRows.map(toLedgerRow))) await writePart(part);
  currentImport.value = undefined;
  announcement.value = `${format.counted(rows.length - reasons.length, 'imported transaction')} removed`;
  leftAfterUndo.value = reasons.length > 0 ? reasons : undefined;
  refresh();
}

/** Records one part of an import. A part without rows makes the service forget that part. */
async function writePart({ importId, part, rows }: RecordedPart): Promise<void> {
  const body = { import_id: importId, part, rows };
  await untilAnswered(() => call('/imports', { method: 'PUT', body }));
}
