// Merges a category into another: moves its transactions, then deactivates it. Undo moves back those that were not changed since.
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { categoriesById } from './category-list.ts';
import { updateCategory } from './category-writes.ts';
import { format } from './format.ts';
import { announcement, notice, outbox, refresh } from './ledger.ts';
import { describeRefusal, MAX_BULK_ITEMS, sendBulk } from './repeated-call.ts';
import type { Row } from './rows.ts';
import { readRows } from './view.ts';

const REASONS: Readonly<Record<number, string>> = {
  404: 'it was deleted since.',
  412: 'it was changed since.',
};

/** @returns false if transactions could not be moved: the category then stays active */
export async function mergeCategory(category: Category, target: Category): Promise<boolean> {
  const all = await readRows({ category_id: category.id });
  const count = format.counted(all.length, 'transaction');
  announcement.value = `Moving ${count} to ${target.name}`;
  const refused = await outbox.update(
    all.map((before) => ({
      before,
      after: { ...before, category_id: target.id, category_name: target.name },
    })),
  );
  if (refused.length > 0) {
    notice.value = {
      text: `${category.name} stays active, because ${format.counted(refused.length, 'transaction')} could not be moved:`,
      details: refused.map(
        ({ change, error }) => `${change.before?.description}: ${error.message}`,
      ),
    };
    announcement.value = '';
    return false;
  }
  await updateCategory(readLatest(category), { is_active: false });
  announcement.value = `Moved ${count}`;
  // The versions that the merge wrote: Undo must not touch a transaction that has a later one.
  const moved = all.map(outbox.latestOf);
  notice.value = {
    text: `Moved ${count} from ${category.name} to ${target.name}. ${category.name} is inactive.`,
    action: { name: 'Undo', run: () => void undoMerge(category, moved) },
  };
  return true;
}

/** @param moved the transactions that were in the category, as the merge wrote them */
async function undoMerge(category: Category, moved: readonly Row[]): Promise<void> {
  const { id: category_id, name } = category;
  const stayed: string[] = [];
  let done = 0;
  try {
    const latest = readLatest(category);
    // A category takes transactions only while it is active.
    if (!latest.is_active) await updateCategory(latest, { is_active: true });
    for (; done < moved.length; done += MAX_BULK_ITEMS) {
      notice.value = {
        text: `Moving back to ${name}: ${format.count(done)} of ${format.counted(moved.length, 'transaction')}`,
      };
      const some = moved.slice(done, done + MAX_BULK_ITEMS);
      const items = some.map(({ id, etag }) => ({ id, if_match: etag, category_id }));
      const results = await sendBulk('PUT', '/transactions/bulk', items);
      for (const result of results.filter(({ status }) => status >= 300))
        stayed.push(
          `${some[result.index]?.description}: ${REASONS[result.status] ?? describeRefusal(result)}`,
        );
    }
  } catch (cause) {
    const left = moved.slice(done);
    notice.value = {
      text: `${name} was not restored. ${cause instanceof Error ? cause.message : cause}`,
      action: { name: 'Try again', run: () => void undoMerge(category, left) },
    };
    return refresh();
  }
  const back = `Moved back ${format.counted(moved.length - stayed.length, 'transaction')} to ${name}.`;
  announcement.value = back;
  notice.value =
    stayed.length > 0
      ? { text: `${back} The others stay where they are:`, details: stayed }
      : { text: back, isBrief: true };
  refresh();
}

/** The category may have been written since the page drew it: an update needs its latest version. */
function readLatest(category: Category): Category {
  return categoriesById.peek().get(category.id) ?? category;
}
