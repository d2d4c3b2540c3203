// Merges a category into another: moves its transactions, then deactivates it. Undo moves back those that have not been changed
// since. Both use the outbox, which retries unanswered requests and tracks the versions that this page writes. A merge that was
// interrupted by a reload continues.
import { computed, signal } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { describeFailure, PRECONDITION_FAILED } from './api-error.ts';
import { readLatest } from './category-list.ts';
import { updateCategory } from './category-writes.ts';
import { format } from './format.ts';
import { dropDraft, keepDraft, nameInLedger, readDraft } from './kept-drafts.ts';
import { announcement, me, notice, outbox } from './ledger.ts';
import type { Row } from './rows.ts';
import { readRows } from './view.ts';
import { trackWork } from './work-under-way.ts';

interface FinishedMerge {
  /** Name of the ledger, because another ledger may have transactions with the same ids. */
  readonly ledger: string | undefined;
  readonly category: Category;
  /** The transactions as the merge wrote them. */
  readonly moved: readonly Row[];
}

/** A merge under way, in a form that can be stored. */
interface KeptMerge {
  readonly category: Category;
  readonly target: Category;
  /** Ids of the transactions that the category had at first. */
  readonly ids: readonly number[];
}

const DELETED = 404;
const REASONS: Readonly<Record<number, string>> = {
  [DELETED]: 'it has since been deleted.',
  [PRECONDITION_FAILED]: 'it has since been changed.',
};

/** Name of the ledger in which a merge or its Undo is under way, perhaps waiting for the key of that ledger. */
const busyLedger = signal<string | undefined>(undefined);

/** While true, no other merge or Undo starts: it would find only the transactions that the running one has not moved yet. */
export const isMoving = computed(
  () => busyLedger.value !== undefined && busyLedger.value === me.value?.ledger,
);

/** @returns true if the category is merged; if not, the notice says why */
export async function mergeCategory(category: Category, target: Category): Promise<boolean> {
  return await moveExclusively(() => merge(readLatest(category), readLatest(target)));
}

/** Continues the merge that a reload interrupted. @returns false if there was none, or it did not succeed */
export async function resumeMerge(): Promise<boolean> {
  const keptMerge = readDraft<KeptMerge>(nameDraft());
  if (!keptMerge) return false;
  const [category, target] = [readLatest(keptMerge.category), readLatest(keptMerge.target)];
  return await moveExclusively(async () => {
    notice.value = { text: `Continuing to merge ${category.name} into ${target.name}` };
    // Waits for the transactions that were being moved during the reload.
    await outbox.settle();
    return await merge(category, target, keptMerge.ids);
  });
}

const nameDraft = () => nameInLedger('merge', outbox.ledger.peek());

async function moveExclusively(move: () => Promise<boolean>): Promise<boolean> {
  if (isMoving.peek()) return false;
  busyLedger.value = me.peek()?.ledger;
  try {
    return await trackWork(move);
  } finally {
    busyLedger.value = undefined;
  }
}

/** @param earlierIds ids of the transactions that the merge had to move before a reload interrupted it */
async function merge(
  category: Category,
  target: Category,
  earlierIds: readonly number[] = [],
): Promise<boolean> {
  const ledger = me.peek()?.ledger;
  const name = nameDraft();
  let rowsToMove: readonly Row[];
  let movedEarlier: readonly Row[];
  try {
    const rows = await readRows({ category_id: category.id });
    // The list may lag behind the writes of this page.
    const writtenRows = mapWrittenRows();
    rowsToMove = rows.filter(
      ({ id }) => (writtenRows.get(id)?.category_id ?? category.id) === category.id,
    );
    movedEarlier = await readMoved(target, earlierIds, rowsToMove);
  } catch (cause) {
    dropDraft(name);
    notice.value = { text: `${category.name} was not merged. ${describeFailure(cause)}` };
    return false;
  }
  const ids = [...new Set([...earlierIds, ...rowsToMove.map(({ id }) => id)])];
  keepDraft(name, { category, target, ids } satisfies KeptMerge);
  announcement.value = `Moving ${formatCount(rowsToMove)} to ${target.name}`;
  const { moved: movedNow, stayed } = await moveRows(rowsToMove, target);
  const moved = [...movedEarlier, ...movedNow];
  const problem =
    stayed.length > 0 ? `${formatCount(stayed)} could not be moved:` : await deactivate(category);
  const isMerged = problem === '';
  const state = isMerged ? 'is inactive.' : `stays active. ${problem}`;
  const undo = { name: 'Undo', run: () => void undoMerge({ ledger, category, moved }) };
  dropDraft(name);
  announcement.value = `Moved ${formatCount(moved)}`;
  notice.value = {
    text: `Moved ${formatCount(moved)} from ${category.name} to ${target.name}. ${category.name} ${state}`,
    details: stayed,
    ...((isMerged || moved.length > 0) && { action: undo }),
  };
  return isMerged;
}

/** Reads the transactions that were moved before the reload. */
async function readMoved(
  target: Category,
  earlierIds: readonly number[],
  remainingRows: readonly Row[],
): Promise<readonly Row[]> {
  if (earlierIds.length === 0) return [];
  const remainingIds = new Set(remainingRows.map(({ id }) => id));
  const writtenRows = mapWrittenRows();
  const targetRows = await readRows({ category_id: target.id });
  const byId = new Map(targetRows.map((row) => [row.id, row]));
  return earlierIds.flatMap((id) => {
    const row = writtenRows.get(id) ?? byId.get(id);
    return row?.category_id === target.id && !remainingIds.has(id) ? outbox.latestOf(row) : [];
  });
}

/** Maps the id of each transaction that this page wrote to the last version written; undefined if deleted. */
function mapWrittenRows(): ReadonlyMap<number | undefined, Row | undefined> {
  const changes = outbox.writes.peek().flatMap((write) => write.changes);
  return new Map(changes.map(({ before, after }) => [(after ?? before)?.id, after]));
}

/** @returns why the category stays active; empty if it does not */
async function deactivate(category: Category): Promise<string> {
  try {
    await updateCategory(category, { is_active: false });
    return '';
  } catch (cause) {
    return describeFailure(cause);
  }
}

async function undoMerge(finishedMerge: FinishedMerge): Promise<boolean> {
  return (
    me.peek()?.ledger === finishedMerge.ledger &&
    (await moveExclusively(() => moveBack(finishedMerge)))
  );
}

async function moveBack(finishedMerge: FinishedMerge): Promise<boolean> {
  const category = readLatest(finishedMerge.category);
  const { name } = category;
  notice.value = { text: `Moving back ${formatCount(finishedMerge.moved)} to ${name}` };
  try {
    // A category takes transactions only while it is active.
    if (!category.is_active) await updateCategory(category, { is_active: true });
  } catch (cause) {
    notice.value = {
      text: `${name} was not restored. ${describeFailure(cause)}`,
      action: { name: 'Try again', run: () => void undoMerge(finishedMerge) },
    };
    return false;
  }
  const { unchanged, changed } = splitByChange(finishedMerge.moved);
  const { moved, stayed } = await moveRows(unchanged, category);
  const text = `Moved back ${formatCount(moved)} to ${name}.`;
  const details = [...changed, ...stayed];
  announcement.value = text;
  notice.value =
    details.length > 0
      ? { text: `${text} The others stay where they are:`, details }
      : { text, isBrief: true };
  return true;
}

/** Sets aside the transactions that this page has changed since: the outbox would send their later versions. */
function splitByChange(moved: readonly Row[]) {
  const changes = outbox.waiting.peek().flatMap((write) => write.changes);
  const pendingChanges = new Map(changes.map((change) => [change.before?.id, change]));
  const unchanged: Row[] = [];
  const changed: string[] = [];
  for (const row of moved) {
    const change = pendingChanges.get(row.id);
    if (!change && outbox.latestOf(row) === row) unchanged.push(row);
    else changed.push(describe(row, change && !change.after ? DELETED : PRECONDITION_FAILED));
  }
  return { unchanged, changed };
}

/** @returns the transactions as they were moved, and why the others stayed */
async function moveRows(rows: readonly Row[], { id, name }: Category) {
  const changes = rows.map((before) => ({
    before,
    after: { ...before, category_id: id, category_name: name },
  }));
  const refusals = await outbox.update(changes);
  const refusedIds = new Set(refusals.map(({ change }) => change.before?.id));
  return {
    moved: changes.flatMap(({ after }) => (refusedIds.has(after.id) ? [] : outbox.latestOf(after))),
    stayed: refusals.map(({ change, error }) =>
      describe(change.before, error.status, error.message),
    ),
  };
}

function describe(row: Row | undefined, status: number, message = ''): string {
  return `${row?.description}: ${REASONS[status] ?? message}`;
}

function formatCount(transactions: readonly unknown[]): string {
  return format.counted(transactions.length, 'transaction');
}
