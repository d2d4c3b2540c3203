// Numbers and dates as the browser's language writes them. The API knows no currency, so none is shown.

const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;
const money = new Intl.NumberFormat(undefined, CENTS);
const signed = new Intl.NumberFormat(undefined, { ...CENTS, signDisplay: 'exceptZero' });
const count = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const signedPercent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat(undefined, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const shortMonth = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' });

export const format = {
  money: (amount: number) => money.format(amount),
  signed: (amount: number) => signed.format(amount),
  count: (number: number) => count.format(number),
  short: (amount: number) => short.format(amount),
  percent: (share: number) => percent.format(share),
  signedPercent: (share: number) => signedPercent.format(share),
  date: (day: string) => date.format(new Date(`${day}T00:00Z`)),
  /** Of a period: `2026-03`, or a year. */
  period: (key: string) => (key.length > 4 ? month.format(new Date(`${key}-01T00:00Z`)) : key),
  shortPeriod: (key: string) =>
    key.length > 4 ? shortMonth.format(new Date(`${key}-01T00:00Z`)) : key,
};
