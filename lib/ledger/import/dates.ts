// Reads dates as banks write them: with numbers in any order, month names, or a spreadsheet's day numbers.
import { UserError } from '../../shared/user-error.ts';
import { isCalendarDate } from '../domain/calendar-date.ts';
import { memoizeByText } from './distinct-texts.ts';

export const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Names and abbreviations of each month, in the languages of the supported banks. */
const MONTHS: readonly string[] = [
  'jan january januar janvier januari enero ene gennaio gen janeiro styczen stycznia sty tammikuu tammi leden ledna januara sausis января январь янв ocak oca janvar jaanuar ιαν ianuarie ian sijecanj sijecnja janar janvaris janv janner tammikuuta jaan januarja sausio януари січня січ ιανουαριου sij',
  'feb february februar fevrier fev febrero februari febbraio fevereiro luty lutego lut helmikuu helmi unor unora vasaris февраля февраль фев subat sub φεβ februarie veljaca veljace februaris veebruar febr fevr helmikuuta februara vasario veebr февр февруари лютого лют φεβρουαριου velj',
  'mar march marz mrz maerz mars marzo maart maa marco marzec marca maaliskuu maalis brezen brezna kovas kovo марта март мар mart μαρ martie ozujak ozujka marcius marsz mrt marts maaliskuuta marec берез березня бер marc μαρτιου ozu',
  'apr april avril avr abril abr aprile kwiecien kwietnia kwi huhtikuu huhti duben dubna balandis апреля април апрель апр nisan nis απρ aprilie travanj travnja aprilis aprill huhtikuuta aprila balandzio квітня квіт απριλιου tra',
  'may mai mayo mei maggio mag maio maj maja toukokuu touko kveten kvetna geguze мая май mayis μαι svibanj svibnja majus toukokuuta geguzes травня трав μαιου svi maijs',
  'jun june juni juin junio giugno giu junho czerwiec czerwca cze kesakuu kesa cerven cervna birzelis июня июнь июн haziran haz ιουν iunie iun lipanj lipnja junius juuni junijs kesakuuta juna birzelio junij червня черв юни ιουνιου',
  'jul july juli juillet julio luglio lug julho lipiec lipca lip heinakuu heina cervenec cervence liepa июля июль июл temmuz tem ιουλ iulie iul srpanj srpnja julius juuli julijs juil juill heinakuuta jula liepos julij липня лип юли ιουλιου',
  'aug august aout agosto ago augustus augusti sierpien sierpnia sie elokuu elo srpen srpna rugpjutis августа август авг agustos agu agust αυγ kolovoz kolovoza augusztus augusts elokuuta augusta rugpjucio avg avgust серпня серп αυγουστου kol',
  'sep sept september septembre septiembre settembre set setembro wrzesien wrzesnia wrz syyskuu syys zari rugsejis сентября сентябрь сен eylul eyl σεπ septembrie rujan rujna szeptember szept septembris syyskuuta septembra rugsejo вересня вер септември сент σεπτεμβριου ruj',
  'oct october oktober okt octobre octubre ottobre ott outubro out pazdziernik pazdziernika paz lokakuu loka rijen rijna spalis октября октябрь окт ekim eki οκτ octombrie oktobar oktobris oktoober lokakuuta oktobra spalio жовтня жовт октомври οκτωβριου',
  'nov november novembre noviembre novembro listopad listopada lis marraskuu marras lapkritis ноября ноябрь ноя kasim kas νοε noiembrie noi studeni studenoga novembris marraskuuta novembra lapkricio listopadu листопада лист ноември нояб νοεμβριου stu',
  'dec december dez dezember decembre diciembre dic dicembre dezembro desember des grudzien grudnia gru joulukuu joulu prosinec prosince gruodis декабря декабрь дек aralik ara δεκ decembrie prosinac prosinca decembris detsember joulukuuta decembra gruodzio dets грудня груд декември δεκεμβριου pro',
];
const MONTH_NUMBERS = new Map(
  MONTHS.flatMap((names, n) =>
    names.split(' ').map((name) => [toPlainWord(name), String(n + 1)] as const),
  ),
);
/** Words between the day and the month or before the time, and words for "year" or "day" beside a number. */
const PREPOSITIONS = new Set([
  ...['de', 'of', 'as', 'at', 'um', 'kl', 'klo', 'om', 'alle', 'las'],
  ...['m', 'd', 'г', 'р'],
]);
/**
 * Names that mean different months in Croatian and in Polish. Only Croatian writes a dot after the day. With a dot, "lis" may
 * also be Czech, so it is not read as a month.
 */
const CROATIAN = /^(\d{1,2}\.\s+)(?:(lip)|(listopada)|lis)(?!\p{L})/iu;
/** A date without a year, such as "30.12." or "12/30". */
export const NO_YEAR = /^\s*'?(\d{1,2})[./-](\d{1,2})\.?\s*$/;
/** Longer texts are not read as dates. */
const MAX_DATE_LENGTH = 40;
const TIME =
  /(?:[T\s,-]+|^)\d{1,2}:\d{2}(?::\d{2}(?:[.,:]\d+)?)?\s*(?:[ap]\.?m\.?)?(?:\s*(?:Z|[A-Z]{2,4}|[+-]\d{2}:?\d{2}))?\s*$/i;
const TIME_BEFORE = /^\s*\d{1,2}:\d{2}(?::\d{2})?\s*(?:[ap]\.?m\.?)?[\s,]+(?=\S)/i;
/** The number of a day in a spreadsheet, for the years 1982 to 2064. */
const SERIAL = /^([3-5]\d{4})(?:[.,]\d+)?$/;
const SERIAL_EPOCH = Date.UTC(1899, 11, 30);
const DAY_MILLISECONDS = 86_400_000;
/** Fifteen years, in days: a reading of the dates that ends this much earlier than another is unlikely. */
const MAX_AGE_DIFFERENCE = 5_480;

/**
 * The numbers of a date in the order in which they were written. `fixedOrder` is that order if the text itself shows it, for
 * example by the name of a month.
 */
interface DateParts {
  readonly parts: readonly [string, string, string];
  readonly fixedOrder?: DateOrder;
}

export interface DateReader {
  readonly order: DateOrder;
  /** @throws Error if the text is not a date */
  readonly read: (text: string) => string;
}

function splitDate(source: string): DateParts | undefined {
  if (source.length > MAX_DATE_LENGTH) return undefined;
  const text = source
    .normalize('NFKC')
    .replace(TIME, '')
    .replace(TIME_BEFORE, '')
    .trim()
    .replace(/^'/, '')
    .replace(CROATIAN, (_, day: string, june?: string, october?: string) =>
      [day, june && 'jun', october && 'oct'].join(''),
    );
  const packedDigits = /^(\d{8})(?:\d{4,6})?(?:[.[].*)?$/.exec(text)?.[1];
  if (packedDigits !== undefined) return splitPacked(packedDigits);
  if (SERIAL.test(text)) return splitSerialDate(Number.parseInt(text, 10));
  const eastAsianDate = /^(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]?/.exec(text);
  if (eastAsianDate)
    return {
      parts: [eastAsianDate[1] ?? '', eastAsianDate[2] ?? '', eastAsianDate[3] ?? ''],
      fixedOrder: 'ymd',
    };
  const japaneseDate =
    /^([RH令平])[和成]?\s*(\d{1,2})\s*[.年/-]\s*(\d{1,2})\s*[.月/-]\s*(\d{1,2})/i.exec(text);
  if (japaneseDate) {
    const lastYearBefore = /[R令]/i.test(japaneseDate[1] ?? '') ? 2018 : 1988;
    return {
      parts: [
        String(lastYearBefore + Number(japaneseDate[2])),
        japaneseDate[3] ?? '',
        japaneseDate[4] ?? '',
      ],
      fixedOrder: 'ymd',
    };
  }
  const words = toPlainWord(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !PREPOSITIONS.has(word));
  return splitWords(words);
}

/** Splits 8 digits. The year comes first if that yields a valid date, and last otherwise. */
function splitPacked(digits: string): DateParts {
  const isYear = (text: string) => /^(?:19|20)\d\d$/.test(text);
  if (isYear(digits.slice(0, 4)) && isCalendarDate(insertHyphens(digits)))
    return { parts: [digits.slice(0, 4), digits.slice(4, 6), digits.slice(6)], fixedOrder: 'ymd' };
  return { parts: [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4)] };
}

function insertHyphens(digits: string): string {
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
}

function splitSerialDate(days: number): DateParts {
  const [year = '', month = '', day = ''] = new Date(SERIAL_EPOCH + days * DAY_MILLISECONDS)
    .toISOString()
    .slice(0, 10)
    .split('-');
  return { parts: [year, month, day], fixedOrder: 'ymd' };
}

function splitWords(allWords: readonly string[]): DateParts | undefined {
  // Skips one word that is neither a month nor a number, such as a day of the week.
  const isMonthOrNumber = (word: string) => /^\d/.test(word) || MONTH_NUMBERS.has(word);
  const words = allWords.every(isMonthOrNumber) ? allWords : allWords.filter(isMonthOrNumber);
  const gluedParts =
    words.length === 1 ? /^(\d{1,2})(\p{L}{3,})(\d{2,4})$/u.exec(words[0] ?? '') : null;
  const [firstWord = '', secondWord = '', thirdWord = '', ...extraWords] = gluedParts
    ? gluedParts.slice(1)
    : words;
  const unknownWordCount = allWords.length - words.length;
  if (thirdWord === '' || extraWords.length > 0 || unknownWordCount > 1) return undefined;
  const findMonth = (word: string) => MONTH_NUMBERS.get(word);
  const trimDaySuffix = (word: string) => word.replace(/^(\d{1,2})(?:st|nd|rd|th)$/, '$1');
  const [firstMonth, secondMonth] = [findMonth(firstWord), findMonth(secondWord)];
  if (secondMonth !== undefined)
    return {
      parts: [trimDaySuffix(firstWord), secondMonth, trimDaySuffix(thirdWord)],
      fixedOrder: firstWord.length === 4 ? 'ymd' : 'dmy',
    };
  if (firstMonth !== undefined)
    return { parts: [firstMonth, trimDaySuffix(secondWord), thirdWord], fixedOrder: 'mdy' };
  if (
    unknownWordCount > 0 ||
    !/^\d{1,4}$/.test(firstWord + secondWord.slice(2)) ||
    !/^\d+$/.test(`${firstWord}${secondWord}${thirdWord}`)
  )
    return undefined;
  // Taiwan counts years from 1912.
  if (/^1\d\d$/.test(firstWord))
    return {
      parts: [String(Number(firstWord) + MINGUO_YEARS), secondWord, thirdWord],
      fixedOrder: 'ymd',
    };
  return firstWord.length === 4
    ? { parts: [firstWord, secondWord, thirdWord], fixedOrder: 'ymd' }
    : { parts: [firstWord, secondWord, thirdWord] };
}

/** @returns undefined if the parts are not a date in this order */
function toIsoDate(
  { parts, fixedOrder }: DateParts,
  chosenOrder: DateOrder,
  lastYear: number,
): string | undefined {
  const order = fixedOrder ?? chosenOrder;
  const findPart = (letter: string) => parts[order.indexOf(letter)] ?? '';
  const year = expandYear(findPart('y'), lastYear);
  if (year === undefined || findPart('m').length > 2 || findPart('d').length > 2) return undefined;
  const date = `${year}-${findPart('m').padStart(2, '0')}-${findPart('d').padStart(2, '0')}`;
  return isCalendarDate(date) ? date : undefined;
}

/** Differences between the years of Thailand and Taiwan and those of the common era. */
const BUDDHIST_YEARS = 543;
const MINGUO_YEARS = 1911;
/** No bank's file has dates before this year. */
const FIRST_YEAR = 1970;
/** Years of the Persian and the Islamic calendar. They are refused because their months begin on other days. */
const OTHER_CALENDARS = /^1[34]\d\d$/;

/**
 * Completes two digits to the latest year that ends in them, up to `lastYear`, and converts a Thai year.
 * @returns undefined for digits that cannot be a year of the common era
 */
function expandYear(digits: string, lastYear: number): string | undefined {
  if (OTHER_CALENDARS.test(digits)) return undefined;
  if (digits.length === 4) {
    const common = Number(digits) - BUDDHIST_YEARS;
    return FIRST_YEAR <= common && common <= lastYear ? String(common) : digits;
  }
  if (digits.length !== 2) return undefined;
  const year = Number(digits) + 100 * Math.floor(lastYear / 100);
  return String(year > lastYear ? year - 100 : year);
}

export interface DateOptions {
  readonly chosenOrder?: DateOrder | undefined;
  /** The current date, `YYYY-MM-DD`. A two-digit year is at most the year after this date. */
  readonly today: string;
  /** True if the file comes from a country that does not write the month first. */
  readonly isDayFirst: boolean;
}

/** Drops accents and case. To Unicode, Turkish dotless i is a separate letter, not an i without its mark. */
function toPlainWord(text: string): string {
  const plainWord = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plainWord.replaceAll('ı', 'i');
}

export function looksLikeDate(text: string): boolean {
  if (text.length > MAX_DATE_LENGTH || SERIAL.test(text)) return false;
  const parts = splitDate(text);
  return parts !== undefined && DATE_ORDERS.some((order) => toIsoDate(parts, order, 2099));
}

/**
 * Reads all dates of a file in the order that fits most of them.
 * @throws UserError if two orders fit equally well
 */
export function readDates(dates: readonly string[], options: DateOptions): DateReader {
  const lastYear = Number(options.today.slice(0, 4)) + 1;
  const split = memoizeByText(splitDate);
  const writtenDates = tallyDates(dates, split);
  const order = options.chosenOrder ?? chooseOrder(writtenDates, options, lastYear);
  if (options.chosenOrder) requireOrder(writtenDates, order, lastYear);
  const convert = memoizeByText((text) => {
    const parts = split(text);
    return parts && toIsoDate(parts, order, lastYear);
  });
  return {
    order,
    read: (text) => {
      const date = convert(text);
      if (date !== undefined) return date;
      if (NO_YEAR.test(text))
        throw new Error(`"${text}" has no year. Download a file with full dates, or add the year`);
      if (text.split(/\D+/).some((number) => OTHER_CALENDARS.test(number)))
        throw new Error(`"${text}" is in another calendar. Download a file with Gregorian dates`);
      throw new Error(`"${text}" is not a date (${order})`);
    },
  };
}

interface WrittenDate {
  readonly date: string;
  readonly parts: DateParts;
  /** Number of rows with this date. */
  readonly rows: number;
}

function tallyDates(
  dates: readonly string[],
  split: (text: string) => DateParts | undefined,
): readonly WrittenDate[] {
  const counts = new Map<string, number>();
  for (const date of dates) counts.set(date, (counts.get(date) ?? 0) + 1);
  return [...counts].flatMap(([date, rows]) => {
    const parts = split(date);
    return parts === undefined ? [] : [{ date, parts, rows }];
  });
}

function countRows(dates: readonly { readonly rows: number }[]): number {
  return dates.reduce((sum, { rows }) => sum + rows, 0);
}

/**
 * Checks the order that an option gave or an earlier import remembered. The bank may have changed it since, and a date that
 * fits both orders would silently become another day.
 * @throws UserError if a date does not fit the order, and all dates fit another one
 */
function requireOrder(
  writtenDates: readonly WrittenDate[],
  order: DateOrder,
  lastYear: number,
): void {
  const isDate = (each: DateOrder) => {
    return ({ parts }: WrittenDate) => toIsoDate(parts, each, lastYear) !== undefined;
  };
  const misfit = writtenDates.find((each) => !isDate(order)(each));
  const otherOrder = DATE_ORDERS.find((each) => writtenDates.every(isDate(each)));
  if (!misfit || !otherOrder) return;
  throw new UserError(
    `"${misfit.date}" is not a date in ${order}, and all dates fit ${otherOrder}. Read them with --date-order ${otherOrder}.`,
  );
}

/** Chooses the order that reads the most dates. In a tie the likelier statement wins: one in the past that spans little time. */
function chooseOrder(
  writtenDates: readonly WrittenDate[],
  { today, isDayFirst }: DateOptions,
  lastYear: number,
): DateOrder {
  const ambiguousDates = writtenDates.filter(({ parts }) => parts.fixedOrder === undefined);
  if (ambiguousDates.length === 0) return writtenDates[0]?.parts.fixedOrder ?? 'ymd';
  const allReadings = DATE_ORDERS.map((order) => ({
    order,
    days: ambiguousDates.flatMap(({ date, parts, rows }) => {
      if (order === 'mdy' && date.includes('.')) return [];
      const isoDate = toIsoDate(parts, order, lastYear);
      return isoDate === undefined ? [] : [{ day: Date.parse(isoDate) / DAY_MILLISECONDS, rows }];
    }),
  })).map((reading) => ({ ...reading, rows: countRows(reading.days) }));
  // American cards write the month first in every country. Only that order can read a date with a day after the twelfth, so
  // such a date decides.
  const dayFirstRows = allReadings.find(({ order }) => order === 'dmy')?.rows ?? 0;
  const readings = allReadings.filter(
    ({ order, rows }) => order !== 'mdy' || !isDayFirst || rows > dayFirstRows,
  );
  const maxRows = Math.max(...readings.map(({ rows }) => rows));
  const fixedRows = countRows(writtenDates) - countRows(ambiguousDates);
  // If most dates show their order themselves, the others are refused, each with its line.
  if (fixedRows > maxRows || maxRows === 0) return 'ymd';
  const bestReadings = readings.filter(({ rows }) => rows === maxRows);
  if (fixedRows === maxRows)
    throw createAmbiguousOrderError('ymd', bestReadings[0]?.order ?? 'dmy');
  // Only a year of two digits can come either first or last.
  const likelyReadings = bestReadings.some(({ order }) => order === 'ymd')
    ? keepDayAndMonthOrders(
        bestReadings,
        dropUnlikely(bestReadings, Date.parse(today) / DAY_MILLISECONDS),
      )
    : bestReadings;
  const usualReadings = ambiguousDates.every(({ date }) => date.includes('-'))
    ? likelyReadings
    : likelyReadings.filter(({ order }) => order !== 'ymd' || likelyReadings.length === 1);
  const [first, second] = usualReadings;
  if (first && second) throw createAmbiguousOrderError(first.order, second.order);
  return first?.order ?? 'ymd';
}

/**
 * Keeps both orders of day and month if either is likely: interest once a month is as likely as three purchases in one month.
 * Likelihood decides only whether the year comes first or last.
 */
function keepDayAndMonthOrders(
  readings: readonly OrderReading[],
  likelyReadings: readonly OrderReading[],
): readonly OrderReading[] {
  const hasYearAtEnd = likelyReadings.some(({ order }) => order !== 'ymd');
  return readings.filter(
    (each) => likelyReadings.includes(each) || (hasYearAtEnd && each.order !== 'ymd'),
  );
}

interface OrderReading {
  readonly order: DateOrder;
  readonly days: readonly { readonly day: number }[];
}

/**
 * Drops the unlikely readings of dates such as 25-12-27 and 25-12-28: those in the future, far older than another reading, or
 * spread over years.
 */
function dropUnlikely(readings: readonly OrderReading[], today: number): readonly OrderReading[] {
  const ranges = readings.map(({ order, days }) => {
    const numbers = days.map(({ day }) => day);
    const [first, last] = [numbers.reduce(pickSmaller), numbers.reduce(pickLarger)];
    return { order, days, first, last, span: last - first };
  });
  const pastRanges = ranges.filter(({ last }) => last <= today);
  const candidates = pastRanges.length > 0 ? pastRanges : ranges;
  const latestDay = candidates.map(({ last }) => last).reduce(pickLarger);
  const recentRanges = candidates.filter(({ last }) => last > latestDay - MAX_AGE_DIFFERENCE);
  const shortestSpan = recentRanges.map(({ span }) => span).reduce(pickSmaller);
  return recentRanges.filter(({ span }) => span <= shortestSpan * 4);
}

function pickLarger(a: number, b: number): number {
  return Math.max(a, b);
}

function pickSmaller(a: number, b: number): number {
  return Math.min(a, b);
}

function createAmbiguousOrderError(first: DateOrder, second: DateOrder): UserError {
  return new UserError(
    `Dates may be ${first} or ${second}. Say which with --date-order ${first} or ${second}.`,
  );
}
