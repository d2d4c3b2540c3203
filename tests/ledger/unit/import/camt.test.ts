// The entries in CAMT.053 statements.
import { describe, expect, it } from 'vitest';
import { readCamt } from '../../../../lib/ledger/import/camt.ts';

interface EntryParts {
  readonly amount?: string;
  readonly direction?: string;
  readonly status?: string;
  readonly extra?: string;
  readonly details?: string;
}

function createEntry({
  amount = '<Amt Ccy="EUR">45.10</Amt>',
  direction = 'DBIT',
  status = '<Sts><Cd>BOOK</Cd></Sts>',
  extra = '<AcctSvcrRef>REF1</AcctSvcrRef>',
  details = '',
}: EntryParts = {}): string {
  return `<Ntry>${amount}<CdtDbtInd>${direction}</CdtDbtInd>${status}<BookgDt><Dt>2025-12-30</Dt></BookgDt><ValDt><Dt>2025-12-31</Dt></ValDt>${extra}<NtryDtls>${details}</NtryDtls></Ntry>`;
}

function createDocument(entries: string, { version = '053.001.08', iban = 'DE1' } = {}): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${version}"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr>
<Stmt><Id>1</Id><Acct><Id><IBAN>${iban}</IBAN></Id></Acct><Bal><Amt Ccy="EUR">9.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
${entries}
</Stmt></BkToCstmrStmt></Document>`;
}

const REVERSED = '<RvslInd>true</RvslInd>';

function createBalance(code: string, amount: string): string {
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>`;
}

function createPart(amount: string, name: string, { ref = '', direction = '' } = {}): string {
  return `<TxDtls><Refs><AcctSvcrRef>${ref}</AcctSvcrRef></Refs>${direction && `<CdtDbtInd>${direction}</CdtDbtInd>`}${amount}<RltdPties><Cdtr><Nm>${name}</Nm></Cdtr></RltdPties></TxDtls>`;
}

describe('the CAMT.053 reader', () => {
  it('reads an entry with its parties, text and reference', () => {
    const details =
      '<TxDtls><RltdPties><Dbtr><Pty><Nm>ME</Nm></Pty></Dbtr><Cdtr><Pty><Nm>Müller &amp; Co</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>invoice</Ustrd><Ustrd>4711</Ustrd></RmtInf></TxDtls>';
    expect(readCamt(createDocument(createEntry({ details })))).toMatchObject({
      entries: [
        {
          line: 4,
          date: '2025-12-30',
          signed: -45.1,
          texts: ['Müller & Co'],
          notes: 'invoice 4711',
          account: 'DE1',
          bankId: 'REF1',
          currency: 'EUR',
        },
      ],
      leftOut: [],
      refused: [],
    });
  });

  it('reads the element names of version 2, namespace prefixes, and intraday reports', () => {
    const details = '<TxDtls><RltdPties><Dbtr><Nm>ACME</Nm></Dbtr></RltdPties></TxDtls>';
    const version2 = createDocument(
      createEntry({ status: '<Sts>BOOK</Sts>', direction: 'CRDT', details }),
      {
        version: '053.001.02',
      },
    );
    const expected = [{ texts: ['ACME'], signed: 45.1 }];
    expect(readCamt(version2).entries).toMatchObject(expected);
    const prefixed = version2
      .replace(/<(\/?)([A-Z])/g, '<$1ns2:$2')
      .replace('xmlns=', 'xmlns:ns2=');
    expect(readCamt(prefixed).entries).toEqual(readCamt(version2).entries);
    const report = version2
      .replaceAll('BkToCstmrStmt', 'BkToCstmrAcctRpt')
      .replace(/<(\/?)Stmt>/g, '<$1Rpt>');
    expect(readCamt(report).entries).toMatchObject(expected);
  });

  it('reads several statements, each with its account', () => {
    const first = createDocument(createEntry());
    const document = first.replace(
      '</BkToCstmrStmt>',
      `${createDocument(createEntry({ direction: 'CRDT' }), { iban: 'DE2' }).match(/<Stmt>[\s\S]*<\/Stmt>/)?.[0]}</BkToCstmrStmt>`,
    );
    expect(readCamt(document).entries).toMatchObject([
      { account: 'DE1', signed: -45.1 },
      { account: 'DE2', signed: 45.1 },
    ]);
  });

  it('reads each part of a batch as a row', () => {
    const details = [
      createPart('<Amt Ccy="EUR">40.00</Amt>', 'A', { ref: 'P1' }),
      createPart('<AmtDtls><TxAmt><Amt Ccy="EUR">6.10</Amt></TxAmt></AmtDtls>', 'B', {
        ref: 'REF1',
      }),
      createPart('<Amt Ccy="EUR">1.00</Amt>', 'C', { direction: 'CRDT' }),
    ].join('');
    expect(readCamt(createDocument(createEntry({ details }))).entries).toMatchObject([
      { signed: -40, texts: ['A'], bankId: 'P1' },
      { signed: -6.1, texts: ['B'], bankId: 'REF1/2' },
      { signed: 1, bankId: 'REF1/3' },
    ]);
  });

  it('keeps a batch whole if its parts do not add up to its amount', () => {
    const details =
      createPart('<Amt Ccy="USD">40.00</Amt>', 'A') + createPart('<Amt Ccy="USD">10.00</Amt>', 'B');
    expect(readCamt(createDocument(createEntry({ details }))).entries).toMatchObject([
      { signed: -45.1, bankId: 'REF1' },
    ]);
    expect(
      readCamt(createDocument(createEntry({ details: createPart('', 'A') + createPart('', 'B') })))
        .entries,
    ).toHaveLength(1);
  });

  it('gives a reversal the direction in which the money moves, and the party of the reversed entry', () => {
    const details = '<TxDtls><RltdPties><Cdtr><Nm>GYM</Nm></Cdtr></RltdPties></TxDtls>';
    const reversal = createEntry({ direction: 'CRDT', extra: '<RvslInd>true</RvslInd>', details });
    expect(readCamt(createDocument(reversal)).entries).toMatchObject([
      { signed: 45.1, texts: ['GYM'], bankId: null },
    ]);
  });

  it.each([
    ['has the direction in which the money moves', 'CRDT', '100.00', '145.10', 45.1],
    ['repeats the direction of the reversed entry', 'DBIT', '100.00', '145.10', 45.1],
    [
      'reverses a credit and has the direction in which the money moves',
      ...(['DBIT', '100.00', '54.90', -45.1] as const),
    ],
    ['reverses a credit and repeats its direction', 'CRDT', '100.00', '54.90', -45.1],
  ])('uses the balances to read a reversal that %s', (_, direction, opening, closing, signed) => {
    const reversal = createEntry({ direction, extra: REVERSED });
    const text = createDocument(
      `${createBalance('OPBD', opening)}${createBalance('CLBD', closing)}${reversal}`,
    );
    expect(readCamt(text)).toMatchObject({ entries: [{ signed }], questions: [] });
  });

  it.each([
    ['there are no balances', ''],
    ['a balance is missing', createBalance('OPBD', '100.00')],
    ['the balances do not fit', createBalance('OPBD', '100.00') + createBalance('CLBD', '7.00')],
    [
      'the balances fit both directions',
      createBalance('OPBD', '9.00') + createBalance('CLBD', '9.00'),
      'CRDT',
    ],
  ])('asks for the direction of a reversal if %s', (_, balances, ...others) => {
    const reversals = ['DBIT', ...others].map((direction) =>
      createEntry({ direction, extra: REVERSED }),
    );
    const { entries, questions } = readCamt(createDocument(balances + reversals.join('')));
    expect(entries[0]).toMatchObject({ signed: -45.1 });
    expect(questions).toMatchObject([
      { topic: 'direction', message: expect.stringContaining('add --as-it-is') },
    ]);
    const plain = createDocument(balances + createEntry());
    expect(readCamt(plain).questions).toEqual([]);
    const pending = createEntry({ status: '<Sts>PDNG</Sts>', extra: REVERSED });
    expect(readCamt(createDocument(balances + pending)).questions).toEqual([]);
  });

  it('leaves out entries that are not booked, each with its reason', () => {
    const text = createDocument(
      ['<Sts>PDNG</Sts>', '<Sts><Cd>INFO</Cd></Sts>', '<Sts><Cd>FUTR</Cd></Sts>']
        .map((status) => createEntry({ status }))
        .join('\n'),
    );
    expect(readCamt(text)).toMatchObject({
      entries: [],
      leftOut: [
        { line: 4, reason: 'pending', text: '45.10' },
        { line: 5, reason: 'for information only', text: '45.10' },
        { line: 6, reason: 'planned for a later day', text: '45.10' },
      ],
    });
  });

  it('refuses an entry without a direction, a date or an amount, and names its line', () => {
    const text = createDocument(
      [
        createEntry({ direction: '' }),
        createEntry().replace(/<BookgDt>.*<\/ValDt>/, ''),
        createEntry({ amount: '' }),
      ].join('\n'),
    );
    expect(readCamt(text).refused.map(({ line }) => line)).toEqual([4, 5, 6]);
  });

  it('does not mistake a placeholder for a reference', () => {
    const extra = '<AcctSvcrRef>NONREF</AcctSvcrRef>';
    expect(readCamt(createDocument(createEntry({ extra }))).entries).toMatchObject([
      { bankId: null },
    ]);
  });

  it('refuses a document without a statement', () => {
    expect(() => readCamt('<Document><BkToCstmrStmt/></Document>')).toThrow('no account statement');
  });
});
