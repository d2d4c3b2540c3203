// The importer recognizes the encodings that banks use for their files.
import { expect, it } from 'vitest';
import { planImport } from '../../../../lib/ledger/import/plan.ts';
import { createRecordedRows, recordRow } from '../../../../lib/ledger/import/recorded-rows.ts';
import { readStatement } from '../../../../lib/ledger/import/statement.ts';
import { decodeText } from '../../../../lib/ledger/import/text-encoding.ts';

const TEXT = 'Datum;Bäcker €\n';
const encodeUtf16 = (text: string) => Buffer.from(text, 'utf16le');
const CP1252 = Buffer.from(TEXT.replace('€', '\u0080'), 'latin1');

it.each([
  ['utf-8', Buffer.from(TEXT)],
  ['utf-8', Buffer.from(`\uFEFF${TEXT}`)],
  ['utf-16le', encodeUtf16(`\uFEFF${TEXT}`)],
  ['utf-16be', encodeUtf16(`\uFEFF${TEXT}`).swap16()],
  ['utf-16le', encodeUtf16(TEXT)],
  ['utf-16be', encodeUtf16(TEXT).swap16()],
  ['windows-1252', CP1252],
])('the importer reads %s: %o', (encoding, bytes) => {
  expect(decodeText(bytes)).toEqual({ text: TEXT, encoding, damagedLines: [] });
});

/** Encodes a text, although Node can only decode such encodings: finds the bytes by decoding every single byte and every pair. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map<string, number[]>();
  for (let high = 0x80; high < 0x100; high += 1) {
    bytes.set(decoder.decode(Uint8Array.of(high)), [high]);
    for (let low = 0x40; low < 0x100; low += 1) {
      const character = decoder.decode(Uint8Array.of(high, low));
      if ([...character].length === 1 && !bytes.has(character)) bytes.set(character, [high, low]);
    }
  }
  return Buffer.from(
    [...text].flatMap((character) =>
      character < '\u0080' ? character.charCodeAt(0) : (bytes.get(character) ?? []),
    ),
  );
}

it.each([
  ['windows-1252', 'Libellé;Débit;Crédit\nPrélèvement À LA FERMIÈRE;1,00;\nGarçon café;2,00;\n'],
  ['windows-1252', 'Date,Paid out\n30 Dec 2025,£45.10\n'],
  ['windows-1252', 'Empfänger;Betrag\nMÜLLER GRÜNDE;-1,00\nStraße 5 – Köln;-2,00\n'],
  ['windows-1252', 'Fecha;Descripción\n30/12/2025;PEÑA Y NIÑO, CAÑÓN\n'],
  ['windows-1250', '#Kategoria\nŻabka Dąb;żywność\nwypłata;Wpływy\nŁódź, ćma, świeże, źrebię\n'],
  ['windows-1250', 'Popis;Částka\nPříspěvek na účet;-1\nŽižkov řezník, dům, dveře\n'],
  ['iso-8859-2', 'Opis\nŻabka Dąb, wypłata, środa, śledź, ąę\n'],
  ['windows-1251', 'Дата операции;Описание\n30.12.2025;Продукты, ПЯТЁРОЧКА\n'],
  ['windows-1251', 'date,name\n2025-12-30,интернет\n2025-12-31,магазин\n'],
  // In Hebrew, an abbreviated word can end in a letter that never ends a whole word.
  ['windows-1255', 'תאריך;תיאור;אסמכתא\n01/10/2026;הו"ק חב חשמ;1\n'],
  ['windows-1254', 'Tarih;Açıklama\n30.12.2025;Şişli alışveriş, İĞDIR çarşı\n'],
  ['windows-1254', 'Tarih;Açıklama\n01.10.2026;MAAŞ ÖDEMESİ\n03.10.2026;MİGROS ŞİŞLİ\n'],
  ['windows-1252', 'Dags;Skýring\n01.10.2026;Þórður, ÞJÓÐVEGUR\n'],
  ['windows-1255', 'תאריך;הפעולה\n01/10/2026;משכורת\n'],
  ['windows-874', 'วันที่,รายการ\n01/10/2569,เงินเดือน\n'],
  ['macintosh', 'Date;Libellé\n03/10/2026;CAFÉ DES ARTS, PRÉLÈVEMENT\n'],
  ['big5', '日期,摘要,支出\n2026/10/03,全聯福利中心,45\n'],
  ['shift_jis', '日付,摘要,支払い金額\n2025/12/30,スーパー,4510\n2025/12/28,給与,\n'],
  ['gb18030', '交易时间,交易对方,收/支,金额\n2025-12-30,美团外卖,支出,45.10\n'],
  ['koi8-r', 'Дата операции;Описание\n30.12.2025;Продукты\n'],
  ['euc-kr', '거래일시,적요,출금액\n2025-12-30,편의점,4510\n'],
])('the importer recognizes %s by its text: %s', (encoding, text) => {
  expect(decodeText(encode(text, encoding))).toEqual({ text, encoding, damagedLines: [] });
});

it('the importer keeps UTF-8 if a character is cut in two, and names the line', () => {
  const bytes = Buffer.concat([Buffer.from('Müller\nStraße '), Buffer.of(0xc3), Buffer.from('\n')]);
  const text = 'Müller\nStraße \ufffd\n';
  expect(decodeText(bytes)).toEqual({ text, encoding: 'utf-8', damagedLines: [2] });
});

it('the importer uses the chosen encoding, and lists the known names if it is unknown', () => {
  expect(decodeText(Buffer.from([0xb9]), 'windows-1250').text).toBe('ą');
  expect(() => decodeText(Buffer.from('x'), 'klingon')).toThrow('windows-1252');
});

it.each([
  ['windows-1250', 'windows-1252', 'Książka'],
  ['gb18030', 'shift_jis', 'スーパー'],
  ['windows-1252', 'gb18030', '美团外卖'],
])(
  'the importer finds a row that was first read as %s, and now as %s',
  async (previous, current, name) => {
    const fileEncoding = previous === 'windows-1250' ? previous : current;
    const file = encode(`date,name,amount\n2026-01-02,${name},-3\n2026-01-03,Bus,-4`, fileEncoding);
    const read = async (encoding: string) =>
      (await readStatement(file, { encoding, account: 'Giro' })).rows;
    const previousRows = await read(previous);
    const ledger = previousRows.map((row, n) => {
      const metadata = { id: `${n}`, createdAt: '', updatedAt: '', etag: '', importId: null };
      return { ...row, ...metadata };
    });
    const currentRows = await read(current);
    expect(currentRows[0]?.externalId).not.toBe(previousRows[0]?.externalId);
    expect(planImport(currentRows, ledger)).toMatchObject({ present: 2, missing: [] });
    const rows = previousRows.flatMap((row) => recordRow(row) ?? []);
    const recorded = createRecordedRows([{ importId: 'x', part: 1, rows }]);
    expect(planImport(currentRows, [], { recorded }).deleted).toHaveLength(2);
  },
);
