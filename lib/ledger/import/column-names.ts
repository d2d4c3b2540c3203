// The column names in the exports of banks and apps: one list for each field, the most certain names first. Names are compared
// after `normalizeName`, so case, accents, punctuation and units do not matter.
import { splitList } from './word-list.ts';

/** Kinds of content that a column can have. */
export const FIELDS = [
  ...(['date', 'description', 'amount', 'debit', 'credit', 'type', 'category', 'notes'] as const),
  ...(['externalId', 'account', 'currency', 'status', 'balance', 'fee', 'reference'] as const),
  ...(['entryType', 'payer', 'receivedAmount', 'receivedCurrency'] as const),
] as const;
export type Field = (typeof FIELDS)[number];

const NAMES: Readonly<Record<Field, readonly string[]>> = {
  date: splitList(`
    transaction_date, date, booking date, posting date, transaction date, completed date, posted date, post date,
    date posted, trans date, tran date, txn date, date completed, finished on, posted on, posted, activity date,
    clearing date, processed date, transactiondate, transaction date time, datetime, date time, date utc, timestamp,
    started date, created on, created, effective date, entry date, booked at, date op, datum, buchungstag,
    buchungsdatum, buchung, belegdatum, umsatzdatum, kaufdatum, valutadatum, valuta, wertstellung, wert, datum zeit,
    transaktionsdatum, date d'opération, date opération, date de l'opération, date de comptabilisation,
    date comptable, dateop, date de transaction, date valeur, date de valeur, boekdatum, boekingsdatum,
    uitvoeringsdatum, transactiedatum, rentedatum, data, data contabile, data operazione, data registrazione,
    data mov, data movimento, data lançamento, data da transação, data do lançamento, data operação, data valuta,
    fecha, fecha operación, fecha de operación, fecha contable, f valor, fecha valor, fecha de transacción,
    fecha movimiento, data operacji, data transakcji, data księgowania, data waluty, bokföringsdag, bokföringsdatum,
    transaktionsdag, reskontradatum, dato, bokført, bokføringsdato, bogført, bogføringsdato, kirjauspäivä, päivämäärä,
    maksupäivä, kuupäev, data operacijos, datums, datum provedení, datum zaúčtování, datum zauctovania,
    könyvelés dátuma, tranzakció dátuma, dátum, tarih, tarih saat, işlem tarihi, ημερομηνία, дата операции, дата,
    дата платежа, дата проводки, дата і час операції, дата операції, 日付, 取引日, お取引日, 年月日, ご利用日, 利用日,
    取引日付, 利用日時, 交易时间, 交易日期, 记账日期, 日期, 交易日, 入账日期, 거래일시, 거래일자, tanggal,
    tgl transaksi, ngày giao dịch, ngày, วันที่, תאריך, التاريخ, 거래일, 날짜, 거래 일시, dags, dagsetning,
    completion time, date and time, تاریخ, data tranzactie, дата транзакции, tanggal transaksi, 消費日, 入帳日,
    記帳日期
  `),
  description: splitList(`
    payee, merchant, merchant name, item or payee, name, partner name, partnername, counter party, recipient name,
    recipient, nome, partner neve, partner elnevezése, plátce příjemce, empfängername, 对方账号与户名, counterparty,
    counterparty name, beneficiary, beneficiary payer, other party, target name, payee name, name of sender receiver,
    sender receiver name, zahlungsempfanger in, zahlungsempfänger, begunstigter auftraggeber, empfänger,
    auftraggeber empfänger, beguenstigter zahlungspflichtiger, auftraggeber begünstigter,
    begünstigter zahlungspflichtiger, name zahlungsbeteiligter, sender empfänger, gegenpartei,
    auftraggeber zahlungsempfänger, empfänger auftraggeber, empfanger name, empfaenger 1, empfaenger,
    empfänger zahlungspflichtiger, händler, transaktionspartner, naam omschrijving, naam van de tegenpartij,
    naam tegenpartij, tegenrekeninghouder, naam tegenpartij bevat, odbiorca zleceniodawca, dane kontrahenta,
    nadawca odbiorca, nazwa odbiorcy, odbiorca, zahlungspartner, empfänger absender, navn, merchantname, kontrahent,
    název protiúčtu, název protistrany, nazev protistrany, mottagare, namn, maksunsaaja, saaja maksaja, saajan nimi,
    nimi, saaja, makse saaja, payer payee, 交易对方, 对方户名, 対方名称, 收款人, 利用店名 商品名, 利用店名,
    ご利用店名, 取引先, description, details, transaction description, transaction details, narration, narrative,
    particulars, text, memo, label, title, original statement, item, transaction remarks, remarks, memo description,
    original description, description 1, description1, description 2, description2, description 3, description3,
    transaction, statement description, information, purpose, payment reference, message, verwendungszweck,
    buchungstext, buchungs details, avisierungstext, beschreibung, vorgang verwendungszweck, beschreibung1,
    beschreibung2, beschreibung3, zahlungszweck, text mottagare, notiztext, libellé, libellés, libelle simplifie,
    libelle operation, libellé opération, détails, communication, détail de l'écriture, libellé de l'opération,
    nature de l'opération, omschrijving, omschrijving 1, omschrijving 2, omschrijving 3, mededelingen, mededeling,
    descrizione, causale, descrizione operazioni, descrizione operazione, descrizione completa, operazione,
    descripción, concepto, movimiento, detalle, descrição, descrição do lançamento, lançamento, histórico, título,
    estabelecimento, movimentação, descritivo, opis operacji, opis transakcji, opis, tytuł, tytułem, tytuł operacji,
    beskrivning, rubrik, referens, forklaring, tekst, beskrivelse, selitys, otsikko, viesti, subject, activity name,
    más datos, tittel, meddelande, szczegóły transakcji, selgitus, paaiškinimai, mokėjimo paskirtis,
    zpráva pro příjemce, popis, poznámka, közlemény, megnevezés, leírás, açıklama, işlem açıklaması, περιγραφή,
    αιτιολογία, описание операции, описание, назначение платежа, деталі операції, опис операції, опис, keterangan,
    uraian, diễn giải, nội dung, รายการ, תיאור, תיאור התנועה, פרטים, الوصف, основание, detalii, 摘要内容, 摘要,
    お取り扱い内容, 入出金内容, お取引内容, 取引内容, 内容, 詳細2, 詳細1, 適用, 商品说明, 商品, 交易摘要, 交易备注,
    적요, 내용, 거래내용, 기재내용, mô tả, skýring, partner, namen, شرح, detalii tranzactie, 交易資訊, 備註, 附註,
    說明
  `),
  amount: splitList(`
    billing amount, amount in account currency, account amount, kwota w walucie rachunku, amount, transaction amount,
    net, net amount, amount total, value, sum, total, source amount, source amount after fees, netto, neto,
    credit debit amount, debit credit amount, amount num, betrag, umsatz, betrag umsatz, buchungsbetrag,
    umsatz soll haben, soll haben, montant, montant de l’opération, montant opération, montant de l'opération, bedrag,
    transactiebedrag, importo, importe, cantidad, monto, valor, valor da transação, quantia, kwota, kwota operacji,
    kwota transakcji, kwota transakcji waluta rachunku, belopp, beløb, beløp, määrä, määrä euroa, summa, suma, částka,
    objem, částka v měně účtu, zaúčtovaná částka, suma, čiastka, összeg, tranzakció összege, sumă, tutar,
    işlem tutarı, ποσό, jumlah, nominal, số tiền, จำนวนเงิน, סכום, المبلغ, suma tranzactiei, сума на операцията,
    сумма платежа, сумма, сумма операции, сума, сума в валюті картки uah, сума у валюті картки, 金額, 金额, 交易金额,
    利用金額, ご利用金額, 入出金, 取引金額, 금액, 거래금액, 거래 금액, upphæð, amt, сума операції, сумма транзакции,
    交易金額, local amount
  `),
  debit: splitList(`
    debit, debit amount, debits, dr amount, funds out, withdraw, withdrawal, withdrawals, withdrawal amount,
    withdrawal amt, money out, paid out, out, outflow, dr, expense amount, amount debit, debited amount, outcome,
    spent, payments, soll, belastung, lastschrift, ausgang, ausgaben, débit, débit euros, isplata, дебит, дебет, af,
    uit, ut, ut fra konto, uitgaven, addebiti, uscite, dare, cargo, cargos, débito, débitos, debito, debe, retiros,
    retiro, saída, saídas, adeudo, obciążenia, wypłaty, uttag, utgift, debet, deebet, terhelés, borç, χρέωση, расход,
    списание, витрата, 払出金額, お引出金額, 支払い金額, お支払金額, 支払金額, お引出し, お引き出し, 出金, 出金額,
    出金金額, 引出金額, 支出, 支出金额, חובה, בחובה, 交易金额 支出, 记账金额 支出, 출금액, 출금, 찾으신금액,
    số tiền ghi nợ, withdrawn, expense, expenses, breme, úttekt, بدهکار, 出金額, 提款, 支出金額, 提出金額, 출금금액,
    지급액, расходы
  `),
  credit: splitList(`
    credit, credit amount, credits, cr amount, funds in, deposit, deposits, deposit amount, deposit amt, money in,
    paid in, in, inflow, income, cr, income amount, amount credit, credited amount, received, receipts, haben,
    gutschrift, eingang, einnahmen, crédit, crédit euros, bij, uplata, кредит, inn, inn på konto, inkomsten,
    accrediti, entrate, avere, abono, abonos, crédito, créditos, credito, haber, depósitos, depósito, entrada,
    entradas, ingreso, uznania, wpłaty, insättning, inkomst, kredit, kreedit, jóváírás, alacak, πίστωση, приход,
    зачисление, надходження, 受入金額, お預入金額, 預かり金額, お預入れ, お預り金額, お預かり金額, 入金, 入金額,
    入金金額, זכות, בזכות, 預入金額, 收入, 收入金额, 交易金额 收入, 记账金额 收入, 입금액, 입금, 맡기신금액,
    số tiền ghi có, dobro, innborgun, بستانکار, 存款, 存入, 存入金額, 입금금액, 수령액, доходы
  `),
  type: splitList(`
    debit credit, credit debit, d c, dc, dr cr, cr dr, d k, c d, s h, af bij, bij af, direction, income expense,
    credit debit indicator, debit credit d c, deebet kreedit d c, sens, creditdebet, soll haben, dare avere,
    debe haber, d h, směr úhrady, směr, kierunek, richting, riktning, in out, sign, balance impact, transaction type,
    type, kind, tipo, 收 支, 收支, 收支类型, 借贷, 借贷标志, 入払区分, 入出金区分, 구분, amount type, entry type,
    deebet kreedit, debetas kreditas, debit or credit, тип, тип операции, typ
  `),
  category: splitList(`
    category_name, category, kategorie, category name, kategoria, catégorie, categoría, categoria, categorie,
    категория, 交易分类, カテゴリ, 分類, kategori
  `),
  notes: splitList('notes, note, comment'),
  payer: splitList(
    'zahlungspflichtige r, avsändare, avsender, nazwa nadawcy, nadawca, maksaja, absender, sender, from, source name, auftraggebername',
  ),
  externalId: splitList(`
    external_id, transaction id, transaction_id, transactionid, id, fitid, record id, unique id, transaction number,
    transaction no, txn id, transferwise id, id operace, id transakce, transaktions id, transaktions nr,
    id transacción, identificador, archiving code, arkistointitunnus, arkivref, 交易订单号, 交易单号
  `),
  account: splitList(`
    account, account no, account number, account name, account id, accountnumber, iban, full account name,
    client account, customer account no, bank account, wallet, account_name, card no, card number, account #,
    auftragskonto, iban auftragskonto, iban kontoinhaber, rekening, rekeningnummer, iban bban, kontonummer, konto,
    rachunek, numer rachunku, numer rachunku karty, accountnum, número de cuenta, conta, číslo účtu, account mask,
    номер карты, номер счета, first bank card
  `),
  currency: splitList(`
    waluta rachunku, billing currency, currency, currency code, ccy, account currency, debit currency,
    credit currency, transaction currency, commodity currency, source currency, währung, waehrung, whg, devise,
    devises, munt, valuta rekening, divisa, moneda, moeda, waluta, valuta, valutacode, valuutta, valūta, valiuta,
    měna, měna účtu, mena, pénznem, deviza, para birimi, валюта платежа, валюта, валюта картки, 币种, 交易币种
  `),
  status: splitList(`
    status, state, transaction status, cleared, payment status, info, statut, état, stato, estado, situação, stan,
    status transakcji, stav, tila, статус, 交易状态, 当前状态, 狀態, 状態
  `),
  balance: splitList(`
    balance, running balance, running bal, runningbalance, account balance, closing balance, balance after,
    ending balance, available balance, bal, saldo, kontostand, saldo nach buchung, saldo nach, saldo na mutatie,
    saldo na trn, saldo po transakcji, saldo po operacji, bokfört saldo, solde, accountbalance, balance brought,
    bakiye, saldo final, saldo contable, saldo do dia, zůstatek, egyenleg, υπόλοιπο, остаток, יתרה, היתרה,
    залишок після операції, 残高, 現在 貸付 高, 差引残高, 取引後残高, お預り残高, 余额, 交易余额, 잔액, 거래후잔액,
    거래 후 잔액, staða, مانده, 餘額, 結餘, 帳戶餘額, stanje, стање
  `),
  // A row from Wise has both sides of a transfer: the target is the amount that the other side received.
  receivedAmount: splitList('target amount after fees'),
  receivedCurrency: splitList('target currency'),
  fee: splitList(`
    source fee amount, fee, fees, fee amount, gebühr, frais, комиссия, poplatek v měně účtu, total fees, commission,
    charge, charges, service charge, transaction fee, handling fee, gebühren, provision, provize, prowizja, opłata,
    avgift, gebyr, teenustasu, komisinis, comisión, comissão, commissione, commissioni, spese, tarifa, сума комісій,
    手续费, 手数料, conversioncharge, foreign transaction fee, poplatek, jutalék, 수수료
  `),
  reference: splitList('reference txn id'),
  entryType: splitList(`
    action, type, transaction type, tran type, booking type, type of booking, subcategory, umsatzart, umsatztyp,
    buchungsart, buchungstext, vorgang, bewegungstyp, mutatiesoort, type verrichting, transactie, type operation,
    tipo, tipologia, movimiento, rodzaj transakcji, activity type, betalingstype, transaktionstyp, typ transakcji,
    typ operacji, laji, tapahtumalaji, typ, типы операции, категория, 交易分类, 交易类型, 取引区分, 거래구분,
    거래 구분, 거래 유형
  `),
};

const CURRENCY_CODES = Intl.supportedValuesOf('currency').map((code) => code.toLowerCase());
const UNITS = new Set([
  ...CURRENCY_CODES,
  'kr',
  'rs',
  'rs.',
  'r$',
  'zł',
  'kč',
  'ft',
  'rm',
  'lei',
  '円',
  '元',
  '원',
]);
const BRACKETS = /[([]\s*(?:in )?([^()[\]]{1,5}?)\s*[)\]]/gu;
const CURRENCY_SUFFIX = new RegExp(` (?:in )?(?:euros?|${CURRENCY_CODES.join('|')})$`);
/** Longer texts are not column names. */
const MAX_NAME_LENGTH = 80;

/** @returns an empty string for a header too long to be a name */
export function normalizeName(header: string): string {
  if (header.length > MAX_NAME_LENGTH) return '';
  // Some apps number their columns: "(2)Date".
  const lowerCase = header
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\(\d+\)\s*/, '');
  const words = simplify(
    lowerCase.replace(BRACKETS, (brackets, unit: string) => (isUnit(unit) ? ' ' : brackets)),
  );
  return (words === '' ? simplify(lowerCase) : words).replace(CURRENCY_SUFFIX, '');
}

/** True for a unit in brackets: a currency such as EUR or €, any other sign, or the Dr of "Withdrawal (Dr)". */
function isUnit(text: string): boolean {
  return UNITS.has(text) || !/[\p{L}\p{N}]/u.test(text) || text === 'dr' || text === 'cr';
}

/** Removes accents, and turns punctuation into spaces. */
function simplify(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}$]+/gu, ' ')
    .trim();
}

const RANKS: Readonly<Record<Field, ReadonlyMap<string, number>>> = Object.fromEntries(
  FIELDS.map((field) => [field, rankNames(NAMES[field].map(normalizeName))]),
) as Record<Field, ReadonlyMap<string, number>>;

function rankNames(names: readonly string[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const [n, name] of names.entries()) if (!ranks.has(name)) ranks.set(name, n);
  return ranks;
}

/** Finds the columns that may contain a field, by their names, the most certain first. */
export function findNamedColumns(names: readonly string[], field: Field): readonly number[] {
  const ranks = RANKS[field];
  return names
    .flatMap((name, index) => {
      const rank = ranks.get(name);
      return rank === undefined ? [] : [{ index, rank }];
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ index }) => index);
}

/** Columns whose numbers are not the entry's amount: amounts in another currency, taxes, rates and the like. */
const OTHER_AMOUNTS =
  /original|foreign|fremd|ursprung|local|target|merchant|exchange|kurs|rate|fee|gebuhr|tax|tip|steuer|cash ?back|кэшбэк|mcc|zip|postal|limit|points/;

export function isOtherAmount(name: string): boolean {
  return OTHER_AMOUNTS.test(name);
}

const POSTING_DATES = new Set(
  splitList(`
    posted date, posting date, post date, date posted, completed date, date completed, date completed utc,
    buchungsdatum, buchungstag, bokföringsdatum, data księgowania, datum zaúčtování, fecha contable, data contabile,
    date comptable
  `).map(normalizeName),
);

/** True for a column with the day on which the bank posted the entry, as opposed to the day of the purchase. */
export function isPostingDate(name: string): boolean {
  return POSTING_DATES.has(name);
}

const RECIPIENTS = new Set(
  splitList(`
    zahlungsempfanger in, recipient, recipient name, target name, payee, empfängername, nazwa odbiorcy, odbiorca,
    empfänger, empfaenger, mottagare, saaja, saajan nimi, maksunsaaja, beneficiary
  `).map(normalizeName),
);

/**
 * True for a column that names the party that was paid. For money received that is the account's owner, if another column
 * names the payer.
 */
export function isRecipient(name: string): boolean {
  return RECIPIENTS.has(name);
}

/** English names of date columns. Any other name suggests a language that puts the day first. */
const ENGLISH_DATE = /^(?:[a-z ]*date[a-z ]*|posted|created on|finished on|timestamp|datetime)$/;

export function isEnglishDate(name: string): boolean {
  return ENGLISH_DATE.test(name);
}
