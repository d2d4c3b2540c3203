// The endpoints of imports, as clients see them.
import { importPartBody, importQuery } from '../import-json.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { list, NUMBER, nameForm, object, succeeded, TEXT } from './response-forms.ts';

export const IMPORT_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /imports': {
    id: 'listImports',
    summary: 'List the rows of imports',
    description: `Returns the identities of the rows that each import has added, in parts. They include rows that were deleted
      since. \`next\` is the query of the next page.`,
    query: importQuery,
    response: nameForm(
      'ImportParts',
      succeeded({
        data: list(
          nameForm('ImportPart', object({ import_id: TEXT, part: NUMBER, rows: list(TEXT) })),
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
    description: `Replaces the record of this part of the import. Without rows, the record is deleted. The client chooses the
      identities.`,
    body: { name: 'ImportInput', schema: importPartBody },
    example: { import_id: '2026-11-25-bank.csv', rows: ['q1w2e3r4'] },
    response: nameForm(
      'ImportRecorded',
      succeeded({
        data: nameForm('ImportCount', object({ import_id: TEXT, part: NUMBER, recorded: NUMBER })),
        message: TEXT,
      }),
    ),
    failure: 'Failed to record the import',
  },
};
