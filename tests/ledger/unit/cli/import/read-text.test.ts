// Files in the encodings that banks use.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decodeText, readText } from '../../../../../cli/ledger/import/read-text.ts';
import { CSV_HEADER } from '../../../../../lib/ledger/http/transaction-csv.ts';
import { temporaryFolder } from '../../../../shared/support/temporary-folder.ts';

const TEXT = 'Datum;Bäcker €\n';
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const CP1252 = Buffer.from(TEXT.replace('€', '\u0080'), 'latin1');

it.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16', utf16(`\uFEFF${TEXT}`)],
  ['UTF-16', utf16(`\uFEFF${TEXT}`).swap16()],
  ['UTF-16', utf16(TEXT)],
  ['UTF-16', utf16(TEXT).swap16()],
  ['ISO-8859-1 (Windows-1252)', CP1252],
])('reads %s: %o', (encoding, bytes) => {
  expect(decodeText(bytes)).toEqual({ text: TEXT, encoding });
});

it.each(['\0', '\0a'.repeat(1_000)])(
  'reads an export with zero characters in a text',
  async (zeros) => {
    const text = `${CSV_HEADER}1,2026-01-02,Tea,3,expense,,${zeros},,,\r\n`;
    const file = join(await temporaryFolder(), 'ledger.csv');
    writeFileSync(file, text);
    expect(readText(file)).toEqual({ text, encoding: 'UTF-8' });
  },
);

it.each([
  ['/nowhere/bank.csv', 'The file /nowhere/bank.csv cannot be read: it does not exist.'],
  [import.meta.dirname, 'it is a folder'],
  [process.execPath, 'is not a text file'],
])('says of %s why it cannot be read', (file, sentence) => {
  expect(() => readText(file)).toThrow(sentence);
});
