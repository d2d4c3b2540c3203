// The JSON of imports' records, in requests and in responses.
import * as v from 'valibot';
import {
  type ImportPart,
  type ImportPosition,
  MAX_IMPORT_PARTS,
  MAX_PART_ROWS,
  MAX_ROW_IDENTITY_LENGTH,
} from '../domain/import-part.ts';
import { importCursor, toImportCursor } from './cursor.ts';
import { parseBody, parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { importId } from './transaction-json.ts';

const PART_RULE = `Must be an integer from 1 to ${MAX_IMPORT_PARTS}.`;
const ROW_RULE = `Must be strings of 1 to ${MAX_ROW_IDENTITY_LENGTH} letters, digits, "-" and "_".`;

export const importPartBody = v.object(
  {
    import_id: importId,
    part: v.exactOptional(
      v.pipe(
        v.number(PART_RULE),
        v.integer(PART_RULE),
        v.minValue(1, PART_RULE),
        v.maxValue(MAX_IMPORT_PARTS, PART_RULE),
      ),
    ),
    rows: v.pipe(
      v.array(
        v.pipe(
          v.string(ROW_RULE),
          v.regex(new RegExp(`^[A-Za-z0-9_-]{1,${MAX_ROW_IDENTITY_LENGTH}}$`), ROW_RULE),
        ),
        'Must be an array.',
      ),
      v.maxLength(MAX_PART_ROWS, `Must be at most ${MAX_PART_ROWS} rows.`),
    ),
  },
  'Is required.',
);

export const importQuery = v.object({
  after: v.exactOptional(
    v.pipe(importCursor, v.description('The cursor in `next` of the previous page.')),
  ),
});

/** @throws ValidationError with the errors of every field */
export function parseImportPart(body: Readonly<Record<string, unknown>>): ImportPart {
  const { import_id, part = 1, rows } = parseBody(importPartBody, body);
  return { importId: import_id, part, rows };
}

/** @throws ValidationError for an unknown parameter */
export function parseImportQuery(query: Query) {
  return parseFilter(importQuery, query);
}

/** Leaves out the rows, which the client has just sent. */
export function toRecordedJson({ importId, part, rows }: ImportPart) {
  return { import_id: importId, part, recorded: rows.length };
}

function toImportPartJson({ importId, part, rows }: ImportPart) {
  return { import_id: importId, part, rows };
}

export function toImportsReply(page: {
  readonly parts: readonly ImportPart[];
  readonly next: ImportPosition | undefined;
}) {
  const next = page.next ? `after=${toImportCursor(page.next)}` : null;
  return { status: 200, body: { success: true, data: page.parts.map(toImportPartJson), next } };
}
