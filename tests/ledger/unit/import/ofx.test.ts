// The entries in OFX statements.
import { describe, expect, it } from 'vitest';
import { findOfxCharset, readOfx } from '../../../../lib/ledger/import/ofx.ts';

const HEADER = 'OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n';
const ACCOUNT = '<BANKACCTFROM><BANKID>10020030<ACCTID>4711<ACCTTYPE>CHECKING</BANKACCTFROM>';

function createFile(rows: string, { account = ACCOUNT, currency = 'USD' } = {}): string {
  return `${HEADER}<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>${currency}${account}<BANKTRANLIST>
<DTSTART>20251201<DTEND>20251231
${rows}
</BANKTRANLIST><LEDGERBAL><BALAMT>99.00<DTASOF>20251231</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;
}

function createRow(amount: string, { type = 'DEBIT', id = '1', extra = '' } = {}): string {
  return `<STMTTRN><TRNTYPE>${type}<DTPOSTED>20251230<TRNAMT>${amount}<FITID>${id}<NAME>SHOP ${id}${extra}</STMTTRN>`;
}

function readSignedAmounts(...rows: readonly string[]): readonly number[] {
  return readOfx(createFile(rows.join('\n'))).entries.map(({ signed }) => signed);
}

describe('the OFX reader', () => {
  it('reads values without closing tags, with the date that the bank wrote', () => {
    const { entries } = readOfx(
      createFile(
        '<STMTTRN><TRNTYPE>DEBIT\n<DTPOSTED>20251230233000.000[-5:EST]\n<TRNAMT>-45.10\n<FITID>A1\n<NAME>GROCER 12\n<MEMO>card\n</STMTTRN>',
      ),
    );
    expect(entries).toMatchObject([
      {
        line: 9,
        date: '2025-12-30',
        signed: -45.1,
        texts: ['GROCER 12'],
        notes: 'card',
        account: '10020030/4711',
        bankId: 'A1',
        currency: 'USD',
      },
    ]);
  });

  it('reads the same entries from XML', () => {
    const sgml = createFile(createRow('-45.10', { extra: '<MEMO>Müller &amp; Söhne' }));
    const xml = sgml
      .replace(HEADER, '<?xml version="1.0"?>\n<?OFX OFXHEADER="200" VERSION="211"?>\n\n\n\n\n')
      .replace(/<(\w+)>([^<\n]+)/g, '<$1>$2</$1>');
    expect(xml).toContain('</TRNAMT>');
    expect(readOfx(xml).entries).toEqual(readOfx(sgml).entries);
  });

  it.each([
    ['AT&T', 'AT&T'],
    ['AT&amp;T', 'AT&T'],
    ['Caf&#233; &#xE9;t&eacute;', 'Café ét&eacute;'],
    ['A < B', 'A < B'],
    ['<![CDATA[Fish & <Chips>]]>', 'Fish & <Chips>'],
    ['  PADDED    TO  32  ', 'PADDED TO 32'],
  ])('reads the name %s', (written, description) => {
    const text = createFile(createRow('-1').replace('SHOP 1', written));
    expect(readOfx(text).entries).toMatchObject([{ texts: [description] }]);
  });

  it('keeps the values after an empty value without a closing tag', () => {
    const text = createFile(
      '<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20251230<TRNAMT>-5<CHECKNUM>\n<NAME>\n<FITID>7<MEMO>FIRST</STMTTRN>\n<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20251230<TRNAMT>-6<FITID>8<NAME>SECOND</STMTTRN>',
    );
    expect(readOfx(text).entries).toMatchObject([
      { texts: ['FIRST'], bankId: '7', signed: -5 },
      { texts: ['SECOND'], bankId: '8', signed: -6 },
    ]);
  });

  it('reads rows whose closing tags are missing', () => {
    const text = createFile(
      [createRow('-5', { id: '1' }), createRow('-6', { id: '2' })].join(''),
    ).replaceAll('</STMTTRN>', '');
    expect(readOfx(text).entries.map(({ signed }) => signed)).toEqual([-5, -6]);
  });

  it('describes a row by its payee, the full form of a truncated name, its check number, or its type', () => {
    const texts = [
      createRow('-1').replace('<NAME>SHOP 1', '<PAYEE><NAME>ACME<CITY>BERLIN</PAYEE>'),
      createRow('-1').replace(
        'SHOP 1',
        'VERY LONG NAME OF A S<MEMO>VERY LONG NAME OF A SHOP, BERLIN',
      ),
      createRow('-1', { type: 'CHECK' }).replace('<NAME>SHOP 1', '<CHECKNUM>1042'),
      createRow('-1').replace('<NAME>SHOP 1', ''),
    ];
    const { entries } = readOfx(createFile(texts.join('\n')));
    expect(entries.map(({ texts: [text], entryType }) => text ?? entryType)).toEqual([
      'ACME',
      'VERY LONG NAME OF A SHOP, BERLIN',
      'Check 1042',
      'Debit',
    ]);
  });

  it.each([
    ['-45,10', -45.1],
    ['+.75', 0.75],
    ['-1,234.56', -1234.56],
    ['-1.234.567,8', -1234567.8],
    ['36.0000', 36],
    ['-0.00', 0],
  ])('reads the amount %s', (written, signed) => {
    expect(readSignedAmounts(createRow(written), createRow('-1'))[0]).toBe(signed);
  });

  it.each(['1,234', '12.345', 'abc', '', '1.2.3', '--5'])('refuses the amount "%s"', (written) => {
    const { entries, refused } = readOfx(createFile(createRow(written)));
    expect(entries).toEqual([]);
    expect(refused).toMatchObject([{ line: 9 }]);
  });

  it('uses the types as directions if the signs are missing or reversed', () => {
    const createDebit = (amount: string) => createRow(amount, { type: 'DEBIT' });
    const createCredit = (amount: string) => createRow(amount, { type: 'CREDIT' });
    expect(readSignedAmounts(createDebit('5'), createCredit('9'))).toEqual([-5, 9]);
    expect(readSignedAmounts(createDebit('5'), createCredit('-9'))).toEqual([-5, 9]);
    expect(readSignedAmounts(createDebit('-5'), createCredit('9'))).toEqual([-5, 9]);
    // A refund of a purchase has the opposite sign.
    expect(readSignedAmounts(createDebit('5'), createRow('-9', { type: 'POS' }))).toEqual([5, -9]);
    expect(readSignedAmounts(createDebit('-5'), createDebit('5'))).toEqual([-5, 5]);
  });

  it('reads credit cards and several accounts, each with its currency', () => {
    const bank = createFile(createRow('-1'), { currency: 'EUR' });
    const card = createFile(createRow('-2'), {
      account: '<CCACCTFROM><ACCTID>4111</CCACCTFROM>',
      currency: 'USD',
    })
      .replace(HEADER, '')
      .replace('<STMTRS>', '<CCSTMTRS>')
      .replace('</STMTRS>', '</CCSTMTRS>');
    expect(readOfx(bank + card).entries).toMatchObject([
      { account: '10020030/4711', currency: 'EUR', signed: -1 },
      { account: '4111', currency: 'USD', signed: -2 },
    ]);
  });

  it('uses the currency of a row, not the currency it was converted from', () => {
    const withCurrency = (name: string) =>
      createRow('-1', { extra: `<${name}><CURRATE>1.1<CURSYM>GBP</${name}>` });
    const { entries } = readOfx(
      createFile(withCurrency('CURRENCY') + withCurrency('ORIGCURRENCY')),
    );
    expect(entries.map(({ currency }) => currency)).toEqual(['GBP', 'USD']);
  });

  it('leaves out investments, pending rows and corrected rows, and lists them', () => {
    const text = createFile(
      [
        createRow('-1', { id: '1' }),
        createRow('-2', { id: '2', extra: '<CORRECTFITID>1<CORRECTACTION>REPLACE' }),
        createRow('-3', { id: '3', extra: '<CORRECTFITID>0<CORRECTACTION>DELETE' }),
        '</BANKTRANLIST><BANKTRANLISTP><STMTTRNP><TRNTYPE>DEBIT<DTTRAN>20251231<TRNAMT>-9<NAME>SOON</STMTTRNP></BANKTRANLISTP><BANKTRANLIST>',
      ].join('\n'),
    ).replace(
      '</OFX>',
      '<INVSTMTMSGSRSV1><INVSTMTRS><INVTRANLIST><DTSTART>20251201<BUYSTOCK><INVBUY><UNITS>1</INVBUY></BUYSTOCK><INVBANKTRAN><STMTTRN><TRNAMT>5</STMTTRN></INVBANKTRAN></INVTRANLIST></INVSTMTRS></INVSTMTMSGSRSV1></OFX>',
    );
    const { entries, leftOut } = readOfx(text);
    expect(entries.map(({ signed }) => signed)).toEqual([-2]);
    expect(leftOut.map(({ reason, text }) => [reason, text])).toEqual([
      ['corrected by a later row', '20251230 -1 SHOP 1'],
      ['cancels an earlier row: delete that one if the ledger has it', '20251230 -3 SHOP 3'],
      ['pending', '20251231 -9 SOON'],
      ['investments', '2 movements'],
    ]);
  });

  it('refuses a row whose date is all zeros', () => {
    const { refused } = readOfx(createFile(createRow('-1').replace('20251230', '00000000')));
    expect(refused.map(({ message }) => message)).toEqual(['"00000000" is not an OFX date']);
  });

  it('distinguishes entries that share id, date and amount but not the text', () => {
    const shared = [createRow('-1'), createRow('-1').replace('SHOP 1', 'OTHER'), createRow('-1')];
    const { entries } = readOfx(createFile(shared.join('\n')));
    expect(entries.map(({ bankId }) => bankId)).toEqual(['1', '1/2', '1']);
  });

  it('refuses a file that has only investments', () => {
    const text =
      '<OFX><INVSTMTRS><INVTRANLIST><DTSTART>1<BUYSTOCK><UNITS>1</BUYSTOCK></INVTRANLIST></INVSTMTRS></OFX>';
    expect(() => readOfx(text)).toThrow('only investments');
  });

  it('ignores ids and check numbers that are all zeros', () => {
    const text = createFile(createRow('-1').replace('<NAME>', '<CHECKNUM>0000<NAME>'));
    expect(readOfx(text).entries).toMatchObject([{ texts: ['SHOP 1'], notes: null }]);
    const { entries } = readOfx(
      createFile(createRow('-1', { id: '000' }) + createRow('-2', { id: '010' })),
    );
    expect(entries.map(({ bankId }) => bankId)).toEqual([null, '010']);
  });

  it('reports a file that may be truncated', () => {
    const text = createFile(createRow('-1'));
    expect(readOfx(text).findings).toEqual([]);
    expect(readOfx(text.slice(0, -6))).toMatchObject({
      entries: [{ signed: -1 }],
      findings: ['the file has no </OFX> at its end: it may be cut off'],
    });
  });

  it('refuses tags that are nested deeper than any statement', () => {
    expect(() => readOfx('<A>\n'.repeat(1_000))).toThrow('nested too deeply');
  });

  it.each([
    [HEADER, 'windows-1252'],
    ['OFXHEADER:100\nENCODING:UTF-8\nCHARSET:NONE\n', undefined],
    ['OFXHEADER:100\nCHARSET:8859-1\n', 'iso-8859-1'],
    ['OFXHEADER:100\nCHARSET: ISO-8859-2\n', 'ISO-8859-2'],
    ['<?xml version="1.0" encoding="windows-1250"?>', 'windows-1250'],
    ['<OFX>', undefined],
  ])('finds the encoding in %j', (head, charset) => {
    expect(findOfxCharset(head)).toBe(charset);
  });
});
