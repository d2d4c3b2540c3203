// Decodes a file that a bank or a spreadsheet wrote. Few files name their encoding, so it is guessed: the likeliest text wins.
import { UserError } from '../../shared/user-error.ts';

export interface EncodedText {
  /** The decoded text, without a byte order mark. */
  readonly text: string;
  /** The encoding, by a name that TextDecoder knows. */
  readonly encoding: string;
  /** Lines with bytes that are not characters of the encoding. */
  readonly damagedLines: readonly number[];
}

/** UTF-16 without a byte order mark is recognized by its zero bytes: most Latin characters have one. */
const SAMPLE_BYTES = 1_000;
const UTF16_SHARE = 0.3;
const MAX_JUDGED_BYTES = 20_000;
const REPLACEMENT = '\ufffd';

/** Single-byte encodings with the letters of their languages. The first one wins a tie. */
const ALPHABETS: readonly (readonly [encoding: string, languages: readonly string[]])[] = [
  [
    'windows-1252',
    [
      ...['äöüß', 'éèêëàâçùûîïôœæ', 'áéíóúñü', 'àèéìòù', 'áâãàçéêíóôõú', 'åäöæøé'],
      ...['áéíóúýþæðö', 'éëïöüè'],
    ],
  ],
  [
    'windows-1250',
    [
      ...['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áéíóöőúüű', 'ăâîșțşţ', 'áäčďéíĺľňóôŕšťúýž', 'čćđšž'],
      'äöüß',
    ],
  ],
  ['iso-8859-2', ['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áéíóöőúüű', 'áäčďéíĺľňóôŕšťúýž', 'čćđšž']],
  ['windows-1254', ['çğıİöşüâîû']],
  ['windows-1257', ['ąčęėįšųūž', 'āčēģīķļņšūž', 'äöüõšž']],
  ['macintosh', ['äöüß', 'éèêëàâçùûîïôœæ', 'áéíóúñü', 'áâãàçéêíóôõú', 'åäöæøé']],
];
const SCRIPTS: readonly (readonly [encoding: string, letter: RegExp])[] = [
  // Before Cyrillic, so that Hebrew wins a tie: the bytes of its letters are also Cyrillic letters, but a Cyrillic text nearly
  // always contains other letters as well.
  ['windows-1255', /[\u05d0-\u05ea]/],
  ['windows-1251', /[\u0400-\u045f\u0490\u0491]/],
  ['koi8-r', /[\u0410-\u0451]/],
  ['ibm866', /[\u0410-\u0451]/],
  ['windows-1253', /[\u0384-\u03ce]/],
  ['windows-874', /[\u0e01-\u0e5b]/],
];
const EAST_ASIAN = ['shift_jis', 'gb18030', 'big5', 'euc-kr', 'euc-jp'] as const;

/**
 * @param encoding the user's choice, by any name that TextDecoder knows; guessed if not given
 * @throws UserError if there is no such encoding
 */
export function decodeText(bytes: Uint8Array, encoding?: string): EncodedText {
  if (encoding !== undefined) return decodeAs(bytes, encoding);
  const utf16 = findUtf16(bytes);
  if (utf16) return decodeAs(bytes, utf16);
  const utf8 = decodeAs(bytes, 'utf-8');
  if (utf8.damagedLines.length === 0) return utf8;
  const sample = selectNonAsciiLines(bytes);
  return decodeAs(bytes, isMostlyUtf8(sample) ? 'utf-8' : findLegacyEncoding(sample));
}

function decodeAs(bytes: Uint8Array, encoding: string): EncodedText {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding);
  } catch (cause) {
    throw new UserError(
      `There is no encoding "${encoding}". Use a name such as utf-8, windows-1252 or shift_jis with --encoding.`,
      { cause },
    );
  }
  const text = decoder.decode(bytes);
  return { text, encoding: decoder.encoding, damagedLines: findDamagedLines(text) };
}

const SINGLE_BYTE_ENCODINGS = [...ALPHABETS, ...SCRIPTS].map(([encoding]) => encoding);
/** Encodings that must be guessed. Unicode is not among them, because its bytes reveal it. */
const GUESSED_ENCODINGS: readonly string[] = [
  ...new Set([...SINGLE_BYTE_ENCODINGS, ...EAST_ASIAN]),
];

/**
 * Decodes text again in each of the other encodings: the guess may differ between two files from the same bank.
 * @param encoding the encoding that the text was decoded from
 */
export function createRereader(encoding: string): (text: string) => readonly string[] {
  if (!GUESSED_ENCODINGS.includes(encoding)) return () => [];
  let bytes: ReturnType<typeof mapCharactersToBytes> | undefined;
  const otherEncodings = GUESSED_ENCODINGS.filter((other) => other !== encoding);
  return (text) => {
    if (/^\p{ASCII}*$/u.test(text)) return [];
    const bytesByCharacter = bytes ?? mapCharactersToBytes(encoding);
    bytes = bytesByCharacter;
    const originalBytes = Uint8Array.from(
      [...text].flatMap((each) => bytesByCharacter.get(each) ?? []),
    );
    return [
      ...new Set(otherEncodings.map((other) => new TextDecoder(other).decode(originalBytes))),
    ];
  };
}

const FIRST_TRAIL_BYTE = 0x40;

/** Lists the byte or the two bytes of each character. */
function mapCharactersToBytes(encoding: string): ReadonlyMap<string, readonly number[]> {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map<string, readonly number[]>([[REPLACEMENT, []]]);
  const add = (...sequence: readonly number[]) => {
    const text = decoder.decode(Uint8Array.from(sequence));
    if ([...text].length === 1 && !bytes.has(text)) bytes.set(text, sequence);
  };
  for (let byte = 0; byte < 0x100; byte += 1) add(byte);
  if (SINGLE_BYTE_ENCODINGS.includes(encoding)) return bytes;
  for (let lead = 0x80; lead < 0x100; lead += 1)
    for (let trail = FIRST_TRAIL_BYTE; trail < 0x100; trail += 1) add(lead, trail);
  return bytes;
}

function findDamagedLines(text: string): readonly number[] {
  if (!text.includes(REPLACEMENT)) return [];
  return text.split(/\r\n|\n|\r/).flatMap((line, n) => (line.includes(REPLACEMENT) ? [n + 1] : []));
}

function findUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const sample = [...bytes.subarray(0, SAMPLE_BYTES)];
  const countZeros = (remainder: number) =>
    sample.filter((byte, n) => byte === 0 && n % 2 === remainder).length;
  const [evenZeros, oddZeros] = [countZeros(0), countZeros(1)];
  if (Math.max(evenZeros, oddZeros) < sample.length * UTF16_SHARE) return undefined;
  if (evenZeros > 0 && oddZeros > 0) return undefined;
  return oddZeros > 0 ? 'utf-16le' : 'utf-16be';
}

/** Selects the lines that distinguish encodings: the first rows of a long file may be plain ASCII. */
function selectNonAsciiLines(bytes: Uint8Array): Uint8Array {
  const lines: number[] = [];
  let start = 0;
  let hasNonAscii = false;
  for (let n = 0; n <= bytes.length && lines.length < MAX_JUDGED_BYTES; n += 1) {
    const byte = bytes[n] ?? 0x0a;
    if (byte >= 0x80) hasNonAscii = true;
    if (byte !== 0x0a) continue;
    const line = bytes.subarray(start, Math.min(n, start + MAX_JUDGED_BYTES));
    if (hasNonAscii) lines.push(...line, byte);
    start = n + 1;
    hasNonAscii = false;
  }
  return Uint8Array.from(lines);
}

/** True for slightly damaged UTF-8: a character that was cut in two does not mean that the file has another encoding. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(sample);
  const brokenCount = text.split(REPLACEMENT).length - 1;
  const intactCount = text.match(/[^\p{ASCII}\ufffd]/gu)?.length ?? 0;
  return intactCount > brokenCount;
}

function findLegacyEncoding(sample: Uint8Array): string {
  const candidates = [
    ...ALPHABETS.flatMap(([encoding, languages]) =>
      languages.map((letters) => ({ encoding, judge: judgeAlphabet(letters) })),
    ),
    ...SCRIPTS.map(([encoding, letter]) => ({ encoding, judge: judgeScript(letter) })),
    ...EAST_ASIAN.map((encoding) => ({ encoding, judge: judgeEastAsian(encoding) })),
  ].map(({ encoding, judge }) => ({ encoding, score: judge(decodeStrictly(sample, encoding)) }));
  const bestCandidate = candidates.reduce((a, b) => (b.score > a.score ? b : a));
  return bestCandidate.encoding;
}

/** Decodes a sample; '' if the bytes are not valid in this encoding. */
function decodeStrictly(sample: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return '';
  }
}

type Judge = (text: string) => number;

/** Judges text by its non-ASCII characters: a letter stands next to other letters, a symbol does not. */
function judgeAlphabet(letters: string): Judge {
  const commonLetters = new Set(letters);
  return judgeCharacters((character, before, after) => {
    if (!/\p{L}/u.test(character)) return /\p{L}/u.test(before) && /\p{L}/u.test(after) ? -3 : -0.5;
    if (!/\p{L}/u.test(before + after)) return -1.5;
    const isCommon = commonLetters.has(character) || commonLetters.has(character.toLowerCase());
    const isMisplaced =
      /\p{Lu}/u.test(character) && /\p{Ll}/u.test(before) && /\p{L}/u.test(before);
    const isCrowded = /[^\p{ASCII}]/u.test(before) && /\p{L}/u.test(before);
    // No Icelandic word ends in a thorn, whose byte is a Turkish letter in windows-1254.
    const isThornAtEnd = /þ/i.test(character) && !/\p{L}/u.test(after);
    return (isCommon ? 1 : -2) - (isMisplaced || isThornAtEnd ? 3 : 0) - (isCrowded ? 1.5 : 0);
  });
}

function judgeScript(letter: RegExp): Judge {
  return judgeCharacters((character, before) => {
    if (!letter.test(character)) return /\p{L}/u.test(character) ? -2 : -0.5;
    // In another encoding of the same script, upper and lower case are swapped.
    if (/\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)) return -3;
    // A final form ends a Hebrew word: inside a word, these bytes are Cyrillic letters.
    if (/[ךםןףץ]/.test(before) && letter.test(character)) return -3;
    return letter.test(before) ? 1.2 : -0.5;
  });
}

/** Judges text by how common its characters are: almost any two bytes decode to some rare character. */
function judgeEastAsian(encoding: (typeof EAST_ASIAN)[number]): Judge {
  return judgeCharacters((character, before) => {
    if (/[\u3040-\u30ff]/.test(character)) return 2.2;
    if (/[\u3000-\u303f\uff01-\uff5e¥￥]/.test(character)) return 0.5;
    if (/[\uff61-\uff9f]/.test(character)) return /[\uff61-\uff9f]/.test(before) ? 1 : -1;
    if (encoding === 'euc-kr') return /[\uac00-\ud7a3]/.test(character) ? 2.1 : -1;
    if (/[\u4e00-\u9fff]/.test(character)) return isCommonIdeograph(character) ? 2.3 : -0.5;
    return -2;
  });
}

const COMMON_IDEOGRAPHS = new Set(
  '一二三四五六七八九十百千万円元角分日月年時时間间分日付取引摘要内容金額金额入出支払付残高余额余額預引落振込手数料料利息利用店名称品商先方対象对方交易类型類別分类状态狀態收支收入支出成功失敗失败关闭關閉退款转账轉帳转帳帐账戶户口帳号號卡銀银行信用微信支付宝寶餐饮飲食购物購物交通生活超市商店工资工資給与给房租家赁電电気氣水道代公共通信費费用還还款充值提现提現红包紅包已全部未定期普通貯蓄現金カ東京大阪中国國上海北京人民币币種种摘记記账日時刻備考备注注メモ区分円株式会社有限公司美团滴滴出行京东淘宝拼多多説明说明単单位合計合计確認确认年月末残本人他行消费消費存款活期查询時間终端起始截止导出導出收款理财基金买買卖賣服务服務车車飯饭书書学學校医醫院药藥地铁鐵票机機酒店旅游',
);

function isCommonIdeograph(character: string): boolean {
  return COMMON_IDEOGRAPHS.has(character);
}

function judgeCharacters(
  judge: (character: string, before: string, after: string) => number,
): Judge {
  return (text) => {
    if (text === '') return Number.NEGATIVE_INFINITY;
    let score = 0;
    for (let n = 0; n < text.length; n += 1) {
      const character = text[n] ?? '';
      if (character < '\u0080') continue;
      // Real texts never contain the control characters of ISO-8859.
      if (character < '\u00a0') score -= 4;
      else if (character !== '\u00a0')
        score += judge(character, text[n - 1] ?? '', text[n + 1] ?? '');
    }
    return score;
  };
}
