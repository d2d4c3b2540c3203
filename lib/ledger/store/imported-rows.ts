// Records which rows each import has added. A later import, on any device, can then recognize rows that were deleted since. The
// record has parts that each fit into an item. It does not change when a transaction is deleted.
import type { Database, Item } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import type { ImportPart, ImportPosition } from '../domain/import-part.ts';
import type { Keys } from './keys.ts';

export type ImportedRows = ReturnType<typeof createImportedRows>;

/** Separates row identities, which have no spaces. One string takes less space than a list. */
const SEPARATOR = ' ';
/** Greater than the key of any part, because an import id has at most 64 characters. */
const LAST_KEY = '\u{10ffff}'.repeat(65);

export function createImportedRows(options: {
  readonly database: Pick<Database, 'get' | 'queryOnce' | 'commit'>;
  readonly keys: Keys;
}) {
  const { database, keys } = options;

  /** Replaces the stored part. A part without rows is deleted. */
  async function record({ importId, part, rows }: ImportPart): Promise<void> {
    const key = keys.importPart(importId, part);
    const text = rows.join(SEPARATOR);
    const previousRows = readRows(await database.get(key));
    if (previousRows === text) return;
    const item = { ...key, import_id: importId, part, rows: text };
    // The write has no condition: the last writer wins.
    const onConditionFailed = () => new StaleRecordError('The import has changed');
    const write = text === '' ? { Delete: { Key: key } } : { Put: { Item: item } };
    const wasApplied = (stored: Item | undefined) => {
      const storedRows = readRows(stored);
      return storedRows === text || (storedRows === previousRows ? false : undefined);
    };
    await database.commit([{ ...write, onConditionFailed }], { key, wasApplied });
  }

  /**
   * Reads as many parts as one call of the database returns, strongly consistent.
   * @param after the `next` of the previous page
   */
  async function readPage(after: ImportPosition | undefined) {
    const { items, end } = await database.queryOnce({
      value: keys.imports,
      consistent: true,
      ...(after && { between: [`${keys.importPart(after.importId, after.part).sk}\0`, LAST_KEY] }),
    });
    const parts = items.map(toImportPart);
    return { parts, next: end && parts.at(-1) };
  }

  return { record, readPage };
}

function readRows(item: Item | undefined): string {
  return String(item?.rows ?? '');
}

function toImportPart({ import_id, part, rows }: Item): ImportPart {
  return {
    importId: String(import_id),
    part: Number(part),
    rows: String(rows).split(SEPARATOR),
  };
}
