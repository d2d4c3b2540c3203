// The endpoints of imports, as clients see them.
import { importPartBody, importQuery } from '../import-json.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { list, NUMBER, named, object, succeeded, TEXT } from './response-forms.ts';

export const IMPORT_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /imports': {
    id: 'listImports',
    summary: 'List the rows of imports',
    description: `The identities of the rows that each import has added, in parts, also of rows that were deleted since.
      \`next\` is the query of the next page.`,
    query: importQuery,
    response: named(
      'ImportParts',
      succeeded({
        data: list(
          named('ImportPart', object({ import_id: TEXT, part: NUMBER, rows: list(TEXT) })),
        ),
        next: { ...TEXT, nullable: true, description: 'The query of the next page.' },
      }),
    ),
    failure: 'Failed to retrieve imports',
    maxKb: 2_000,
  },
  'PUT /imports': {
    id: 'recordImport',
    summary: 'Record the rows of an import',
    description: `Replaces what is recorded of this part of the import. Without rows, the part is forgotten. The identities
      are the client's own.`,
    body: { name: 'ImportInput', schema: importPartBody },
    example: { import_id: '2026-11-25-bank.csv', rows: ['q1w2e3r4'] },
    response: named(
      'ImportRecorded',
      succeeded({
        data: named('ImportCount', object({ import_id: TEXT, part: NUMBER, recorded: NUMBER })),
        message: TEXT,
      }),
    ),
    failure: 'Failed to record the import',
  },
};
