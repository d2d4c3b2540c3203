// The importer recognizes the format and the encoding of a file from its content.
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { findFormat } from '../../../../lib/ledger/import/formats.ts';
import { readStatement } from '../../../../lib/ledger/import/statement.ts';
import { createWorkbook } from '../../support/import/workbook.ts';

const toBytes = (content: string | Uint8Array) =>
  typeof content === 'string' ? strToU8(content) : content;

const createArchive = (name: string, text = 'x') =>
  zipSync({ [name]: [strToU8(text), { level: 0 }] });

describe('the importer', () => {
  it.each([
    ['OFXHEADER:100\nDATA:OFXSGML\n', 'OFX'],
    ['\r\nOFXHEADER: 100\r\n', 'OFX'],
    ['\ufeff<?xml version="1.0"?><?OFX OFXHEADER="200"?><OFX>', 'OFX'],
    ['<Document xmlns="urn:x"><BkToCstmrStmt>', 'CAMT.053'],
    ['<?xml version="1.0"?><n:Document xmlns:n="x"><n:BkToCstmrAcctRpt>', 'CAMT.053'],
    ['!Type:Bank\nD1/1/2025', 'QIF'],
    ['\ufeff!Account\nNGiro', 'QIF'],
    ['Date,Amount\n2025-12-30,-1', undefined],
    ['20:15,30', undefined],
    ['', undefined],
  ])('recognizes %j as %s', (content, name) => {
    expect(findFormat(toBytes(content))?.name).toBe(name);
  });

  it.each<[string, string | Uint8Array]>([
    ['old Excel workbook (.xls)', Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1)],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8)],
    ['PDF', '%PDF-1.7\n'],
    ['MT940', ':20:STARTUMS\r\n:25:10020030/4711\r\n:28C:1/1\r\n'],
    ['MT940', '{1:F01BANKDEFF}{2:O940}{4:\n:20:1\n:25:1\n'],
    ['CAMT.054', '<Document><BkToCstmrDbtCdtNtfctn>'],
    ['payment orders', '<Document><CstmrCdtTrfInitn>'],
    ['HTML', '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table>'],
    ['HTML', '\ufeff<!DOCTYPE html>'],
    [
      'Excel 2003',
      '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">',
    ],
    ['XML', '<?xml version="1.0"?><rows/>'],
    ['JSON', '[{"amount": 1}]'],
    ['.ods', createArchive('mimetype', 'application/vnd.oasis.opendocument.spreadsheet')],
    ['Numbers', createArchive('Index/Document.iwa')],
    ['.xlsb', createArchive('xl/workbook.bin')],
    ['ZIP archive', createArchive('a.csv')],
    ['cannot be read', createArchive('xl/workbook.xml')],
    ['is empty', createWorkbook({ One: [] })],
    ['no account statement', '<Document><BkToCstmrStmt/></Document>'],
    ['not valid XML', '<Document><BkToCstmrStmt><a></b>'],
  ])('refuses %s, and says what to import instead', async (name, content) => {
    const error = await readStatement(toBytes(content)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringContaining(name) });
    expect((error as Error).message).toMatch(/CSV|Unpack|[Dd]ownload|another file/);
  });
});

describe('the encoding of an OFX file', () => {
  const createOfxFile = (header: string, name: Uint8Array) =>
    Buffer.concat([
      strToU8(
        `${header}\n<OFX><STMTRS><BANKTRANLIST><STMTTRN><DTPOSTED>20251230<TRNAMT>-1.00<NAME>`,
      ),
      name,
      strToU8('</STMTTRN></BANKTRANLIST></STMTRS></OFX>'),
    ]);

  it.each([
    [
      'the one that the header declares',
      'OFXHEADER:100\nCHARSET:1250',
      [0xb3, 0xf3, 0x64, 0x9f],
      'łódź',
    ],
    ['UTF-8 if the bytes are UTF-8', 'OFXHEADER:100\nCHARSET:1252', [0xc5, 0x82], 'ł'],
    [
      'guessed if the header declares an unknown encoding',
      'OFXHEADER:100\nCHARSET:4711',
      [0x63, 0x61, 0x66, 0xe9],
      'café',
    ],
  ])('is %s', async (_, header, name, description) => {
    const { rows } = await readStatement(createOfxFile(header, Uint8Array.from(name)));
    expect(rows).toMatchObject([{ description }]);
  });
});
