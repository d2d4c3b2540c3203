// Asks which of two versions of a row to keep, after another client changed the row during an edit here.

import { categoriesById } from './category-list.ts';
import { Button } from './components.tsx';
import { format } from './format.ts';
import { outbox, refresh } from './ledger.ts';
import { changedFields, type Row } from './rows.ts';
import type { Conflict } from './send-queue.ts';

const LABELS = {
  transaction_date: 'Date',
  description: 'Description',
  amount: 'Amount',
  type: 'Type',
  category_id: 'Category',
  notes: 'Notes',
} as const;

interface ConflictRowProps {
  readonly conflict: Conflict;
  readonly columns: number;
}

export function ConflictRow({ conflict: { mine, theirs }, columns }: ConflictRowProps) {
  const resolve = () => {
    outbox.resolveConflict(mine.id);
    refresh();
  };
  const keepMine = () => {
    if (theirs) outbox.update([{ before: theirs, after: { ...mine, etag: theirs.etag } }]);
    else outbox.create(mine);
    resolve();
  };
  return (
    <tr class="conflict">
      <td colSpan={columns}>
        <section tabIndex={-1} aria-label={`Conflict: ${mine.description}`}>
          <p role="alert">
            {theirs
              ? `“${mine.description}” was changed elsewhere while you edited it. Which version stays?`
              : `“${mine.description}” was deleted elsewhere while you edited it.`}
          </p>
          {theirs && <Versions mine={mine} theirs={theirs} />}
          <div class="buttons">
            <Button onClick={resolve}>{theirs ? 'Keep theirs' : 'Leave it deleted'}</Button>
            <Button kind="primary" onClick={keepMine}>
              {theirs ? 'Keep mine' : 'Add it again'}
            </Button>
          </div>
        </section>
      </td>
    </tr>
  );
}

/** Shows the fields that differ, side by side. */
function Versions({ mine, theirs }: { readonly mine: Row; readonly theirs: Row }) {
  const names = Object.keys(changedFields(theirs, mine)) as (keyof typeof LABELS)[];
  return (
    <table class="versions">
      <thead>
        <tr>
          <td />
          <th scope="col">Mine</th>
          <th scope="col">Theirs</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{LABELS[name]}</th>
            <td dir="auto">{describe(mine, name)}</td>
            <td dir="auto">{describe(theirs, name)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function describe(row: Row, name: keyof typeof LABELS): string {
  if (name === 'amount') return format.money(row.amount);
  if (name === 'transaction_date') return format.date(row.transaction_date);
  if (name === 'category_id')
    return categoriesById.value.get(row.category_id ?? 0)?.name ?? 'No category';
  return row[name] ?? '';
}
