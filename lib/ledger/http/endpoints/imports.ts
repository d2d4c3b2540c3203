// The endpoints of imports, as clients see them.
import { importPartBody, importQuery } from '../import-json.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { INTEGER, list, nameSchema, object, STRING, succeeded } from './response-schemas.ts';

export const IMPORT_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /imports': {
    id: 'listImports',
    summary: 'List the rows of imports',
    description: `Returns the identities of the rows that each import has added, in parts. They include rows that have since
      been deleted. \`next\` is the query of the next page.`,
    query: importQuery,
    response: nameSchema(
      'ImportParts',
      succeeded({
        data: list(
          nameSchema(
            'ImportPart',
            object({ import_id: STRING, part: INTEGER, rows: list(STRING) }),
          ),
        ),
        next: { ...STRING, nullable: true, description: 'The query of the next page.' },
      }),
    ),
    failureMessage: 'Failed to retrieve imports',
    maxKb: 2_000,
  },
  'PUT /imports': {
    id: 'recordImport',
    summary: 'Record the rows of an import',
    description: `Replaces the record of this part of the import. Without rows, the record is deleted. The client
      chooses the identities of the rows.`,
    body: { name: 'ImportInput', schema: importPartBody },
    example: { import_id: '2026-11-25-bank.csv', rows: ['q1w2e3r4'] },
    response: nameSchema(
      'ImportRecorded',
      succeeded({
        data: nameSchema(
          'ImportCount',
          object({ import_id: STRING, part: INTEGER, recorded: INTEGER }),
        ),
        message: STRING,
      }),
    ),
    failureMessage: 'Failed to record the import',
  },
};
