// Ids and versions that rows got from the writes of this page. A row that was taken from a list before them is written under its
// present ones.
import type { Change } from './figures.ts';
import type { Row } from './rows.ts';

export function createRowVersions() {
  const next = new Map<string, Pick<Row, 'id' | 'etag'>>();
  const keys = new Map<number, number>();
  const nameOf = ({ id, etag }: Pick<Row, 'id' | 'etag'>) => `${id} ${etag}`;
  /** The row under its id and version after the writes of this page; versions that others wrote are not known here. */
  function latestOf(row: Row): Row {
    let latest: Pick<Row, 'id' | 'etag'> = row;
    for (let each = next.get(nameOf(row)); each; each = next.get(nameOf(each))) latest = each;
    return latest === row ? row : { ...row, id: latest.id, etag: latest.etag };
  }
  return {
    latestOf,
    follow: ({ before, after }: Change): Change => ({
      before: before && latestOf(before),
      after: after && latestOf(after),
    }),
    add(before: Row, after: Row): void {
      if (before.id !== after.id) keys.set(after.id, before.id);
      if (nameOf(before) !== nameOf(after))
        next.set(nameOf(before), { id: after.id, etag: after.etag });
    },
    /** A key that stays the same when a row in creation gets its id. */
    keyOf: (id: number) => keys.get(id) ?? id,
  };
}
