// Codes of currencies, in cells and in the headers of columns.

const CURRENCY_CODES = new Set([...Intl.supportedValuesOf('currency'), 'RMB', 'NIS', 'BTC', 'ETH']);

export function isCurrencyCode(text: string): boolean {
  return CURRENCY_CODES.has(text.trim().toUpperCase());
}

/** Some banks have a column of amounts for each currency, and name it by the code: "CAD$". */
export function currencyOfColumn(header: string): string | null {
  // Bob is a name, BOB a currency.
  const code = /^([A-Z]{3})\$?$/.exec(header.trim())?.[1];
  return code !== undefined && CURRENCY_CODES.has(code) ? code : null;
}
