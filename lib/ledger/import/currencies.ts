// Codes and signs of currencies, in cells and in the headers of columns.

const CURRENCY_CODES = new Set([...Intl.supportedValuesOf('currency'), 'RMB', 'NIS', 'BTC', 'ETH']);

export function isCurrencyCode(text: string): boolean {
  return CURRENCY_CODES.has(text.trim().toUpperCase());
}

/** Reads a header that is only a currency, such as "CAD$": some banks write a column of amounts for each currency. */
export function parseCurrencyHeader(header: string): string | null {
  // Upper case only: Bob is a name, BOB a currency.
  const code = /^([A-Z]{3})\$?$/.exec(header.trim())?.[1];
  return code !== undefined && CURRENCY_CODES.has(code) ? code : null;
}

/** Finds the codes among the words of a text, such as "Amount (USD)". */
export function findCurrencyCodes(text: string): readonly string[] {
  const words = text.match(/(?<![\p{L}\p{N}])[A-Z]{3}(?![\p{L}\p{N}])/gu) ?? [];
  return words.filter((word) => CURRENCY_CODES.has(word));
}

/** Signs of each currency, in upper case, separated by spaces. Several dollars and crowns share a sign. */
const SIGNS: Readonly<Record<string, string>> = {
  ARS: '$',
  AUD: '$ A$ AU$',
  BGN: 'ЛВ',
  BRL: 'R$',
  CAD: '$ C$ CA$',
  CHF: 'FR SFR',
  CLP: '$',
  CNY: '¥ CN¥ RMB 元 人民币',
  COP: '$',
  CZK: 'KČ',
  DKK: 'KR',
  EUR: '€ EURO EUROS',
  GBP: '£',
  HKD: '$ HK$',
  HUF: 'FT',
  IDR: 'RP',
  ILS: '₪ NIS',
  INR: '₹ RS',
  ISK: 'KR',
  JPY: '¥ JP¥ 円',
  KRW: '₩ 원',
  MXN: '$ MX$',
  MYR: 'RM',
  NOK: 'KR',
  NZD: '$ NZ$',
  PHP: '₱',
  PLN: 'ZŁ',
  RON: 'LEI',
  RUB: '₽ Р РУБ',
  SEK: 'KR',
  SGD: '$ S$ SG$',
  THB: '฿',
  TRY: '₺ TL',
  TWD: '$ NT$',
  UAH: '₴ ГРН',
  USD: '$ US$',
  UYU: '$',
  VND: '₫',
};
const CODES_BY_SIGN = Map.groupBy(
  Object.entries(SIGNS).flatMap(([code, signs]) =>
    signs.split(' ').map((sign) => ({ code, sign })),
  ),
  ({ sign }) => sign,
);

/** Lists the currency codes that a code or a sign may stand for; a single one if it is unambiguous. */
function listPossibleCodes(text: string): readonly string[] {
  const normalizedText = normalize(text);
  return CODES_BY_SIGN.get(normalizedText)?.map(({ code }) => code) ?? normalizedText.split(' ');
}

function normalize(text: string): string {
  return text.normalize('NFKC').trim().toUpperCase().replace(/\.$/, '');
}

/** True if both may mean the same currency, such as $ and USD. */
export function mayBeSameCurrency(first: string, second: string): boolean {
  const possibleCodes = new Set(listPossibleCodes(first));
  return listPossibleCodes(second).some((code) => possibleCodes.has(code));
}

export type CurrencyReader = (text: string) => string;

/**
 * Reads a code or a sign as a code. A sign that several currencies share stays a sign, unless the file names the account's
 * currency: a bank may write $ for the account's dollars, and USD for others.
 * @param accountCodes codes that the file gives for the account's currency
 */
export function createCurrencyReader(accountCodes: readonly string[] = []): CurrencyReader {
  return (text) => {
    const possibleCodes = listPossibleCodes(text);
    const [first = text, ...others] = possibleCodes;
    if (others.length === 0) return first;
    const [matchingCode, ...otherCodes] = new Set(
      accountCodes.filter((code) => possibleCodes.includes(code)),
    );
    return matchingCode !== undefined && otherCodes.length === 0 ? matchingCode : normalize(text);
  };
}
