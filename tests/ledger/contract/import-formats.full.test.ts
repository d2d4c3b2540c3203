// Files of each format, as a person imports them: from the preview to undo, and the advice in messages about them.
import { expect, it } from 'vitest';
import { createTestTable } from '../../shared/support/test-table.ts';
import { findImportId, givenPerson } from '../support/import/person.ts';
import { createWorkbook } from '../support/import/workbook.ts';

const table = await createTestTable();

const STATEMENT = `<CURDEF>USD<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20251230120000[-5:EST]<TRNAMT>-45.10<FITID>1<NAME>GROCER 12<MEMO>card</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20251228<TRNAMT>2500.00<FITID>2<NAME>ACME PAYROLL</STMTTRN>
</BANKTRANLIST>`;
const OFX = `OFXHEADER:100\nCHARSET:1252\n\n<OFX><STMTRS>${STATEMENT}</STMTRS></OFX>`;

const entry = (amount: string, direction: string, date: string, name: string) =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>${date}</Dt></BookgDt><AcctSvcrRef>${name}</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><Cdtr><Nm>${name}</Nm></Cdtr><Dbtr><Nm>${name}</Nm></Dbtr></RltdPties></TxDtls></NtryDtls></Ntry>`;
const CAMT = `<Document><BkToCstmrStmt><Stmt>${entry('45.10', 'DBIT', '2025-12-30', 'GROCER 12')}${entry('2500.00', 'CRDT', '2025-12-28', 'ACME PAYROLL')}</Stmt></BkToCstmrStmt></Document>`;

const QIF = [
  ...['!Type:Bank', "D12/30'25", 'T-45.10', 'PGROCER 12', '^'],
  ...['D12/28/2025', 'T2,500.00', 'PACME PAYROLL', '^'],
];
const XLSX = createWorkbook({
  Statement: [
    ['My account'],
    ['Date', 'Payee', 'Amount'],
    [{ serial: 46021 }, 'GROCER 12', -45.1],
    [{ serial: 46019 }, 'ACME PAYROLL', 2500],
  ],
});

it.each<[string, readonly string[] | Uint8Array]>([
  ['statement.ofx', [OFX]],
  ['statement.xml', [CAMT]],
  ['statement.qif', QIF],
  ['statement.xlsx', XLSX],
  // The content determines the format, not the file name extension.
  ['statement.csv', [OFX]],
])('%s is imported once, and undone', async (name, content) => {
  const { run, write, readRows } = await givenPerson(table);
  const file = await write(name, content);
  const preview = await run(file);
  expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/^format: /) });
  expect(preview.stdout).toContain('1 income (2500), 1 expense (45.1)');
  const imported = await run(file, '--yes');
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
  expect(await readRows()).toMatchObject([
    { description: 'ACME PAYROLL', amount: 2500, type: 'income', transaction_date: '2025-12-28' },
    { description: 'GROCER 12', amount: 45.1, type: 'expense', transaction_date: '2025-12-30' },
  ]);
  expect((await run(file, '--yes')).stdout).toContain('0 created, 2 already existed');
  expect((await run('--undo', findImportId(imported), '--yes')).stdout).toContain('2 removed');
  expect(await readRows()).toEqual([]);
});

it('a file with two currencies can be imported as the message says', async () => {
  const { run, write } = await givenPerson(table);
  const secondStatement = STATEMENT.replace('USD', 'EUR').replaceAll('<FITID>', '<FITID>9');
  const file = await write('two.ofx', [
    OFX.replace('</OFX>', `<STMTRS>${secondStatement}</STMTRS></OFX>`),
  ]);
  const preview = await run(file, '--yes');
  expect(preview).toMatchObject({ code: 1, stderr: expect.stringContaining('--currency') });
  const [, option = '', code = ''] = /(--currency) (\w+)/.exec(preview.stderr) ?? [];
  const imported = await run(file, option, code, '--yes');
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
});

it('a file with ambiguous dates can be imported as the message says', async () => {
  const { run, write, readRows } = await givenPerson(table);
  const file = await write('two.qif', ['!Type:Bank', 'D1/2/2025', 'T-1.00', 'PTea', '^']);
  const preview = await run(file, '--yes');
  expect(preview).toMatchObject({ code: 1, stderr: expect.stringContaining('--date-order dmy') });
  expect((await run(file, '--date-order', 'dmy', '--yes')).code).toBe(0);
  expect(await readRows()).toMatchObject([{ transaction_date: '2025-02-01' }]);
});

it('an unsupported format is refused without a service', async () => {
  const { run, write } = await givenPerson(table);
  const file = await write('statement.csv', ['%PDF-1.7']);
  const stderr = expect.stringContaining('This is a PDF. Choose CAMT.053, OFX, QIF or CSV');
  expect(await run(file)).toMatchObject({ code: 1, stderr });
});
