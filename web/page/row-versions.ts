// Tracks the ids and versions that the writes of this page gave to rows, so that a write to a row from an older list expects the
// row's latest version.
import type { Change } from './figures.ts';
import type { Row } from './rows.ts';

export function createRowVersions() {
  const successors = new Map<string, Pick<Row, 'id' | 'etag'>>();
  const keys = new Map<number, number>();
  const nameVersion = ({ id, etag }: Pick<Row, 'id' | 'etag'>) => `${id} ${etag}`;
  /** Returns the row with its id and version after the writes of this page. Writes of other clients are not tracked. */
  function latestOf(row: Row): Row {
    let latest: Pick<Row, 'id' | 'etag'> = row;
    for (
      let next = successors.get(nameVersion(row));
      next;
      next = successors.get(nameVersion(next))
    )
      latest = next;
    return latest === row ? row : { ...row, id: latest.id, etag: latest.etag };
  }
  return {
    latestOf,
    withLatestVersions: ({ before, after }: Change): Change => ({
      before: before && latestOf(before),
      after: after && latestOf(after),
    }),
    add(before: Row, after: Row): void {
      if (before.id !== after.id) keys.set(after.id, before.id);
      if (nameVersion(before) !== nameVersion(after))
        successors.set(nameVersion(before), { id: after.id, etag: after.etag });
    },
    /** Returns a key for a row that stays the same when the row, once created, gets its final id. */
    keyOf: (id: number) => keys.get(id) ?? id,
  };
}
