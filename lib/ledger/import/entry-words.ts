// Recognizes rows by the words that banks and apps use, in many languages: entries that failed or are still pending, balances and
// totals, card payments, currency conversions, and yes/no columns.
import { splitList } from './word-list.ts';

/** Words for entries whose money has moved. */
const DONE = splitList(`
  completed, complete, cleared, uncleared, reconciled, posted, booked, settled, success, successful, approved,
  approvato, paid, sent, card charged, reviewed, unreviewed, deposited, refunded, received, accepted, processed,
  executed, done, ok, final, finished, issued, gebucht, umsatz gebucht, verbucht, ausgeführt, abgeschlossen, erledigt,
  geaccepteerd, uitgevoerd, geboekt, verwerkt, accepté, effectué, comptabilisé, exécuté, terminé, validé, eseguito,
  contabilizzato, contabilizzata, completato, realizado, contabilizado, completado, efetivado, concluído, concluida,
  aprovado, pago, liquidado, zaksięgowana, zaksięgowano, zrealizowana, rozliczona, wykonana, zaúčtováno, provedeno,
  bokförd, bokfört, genomförd, udført, bogført, afstemt, utført, bokført, kirjattu, suoritettu, könyvelt, teljesült,
  gerçekleşti, tamamlandı, исполнен, исполнено, проведен, проведено, выполнен, обработан, 交易成功, 支付成功,
  已存入零钱, 对方已收钱, 已转账, 提现已到账, 已收款, 充值完成, 充值成功, 成功, 完了, 確定, 已入账, 还款成功,
  朋友已收钱, 已到账, 완료, 승인, yes, y, c, r, x, cleared (manual), auszahlung
`);
/** Words for pending, planned and authorised payments. The bank lists them again when they are booked, often under another date. */
const PENDING = splitList(`
  pending, authorised, authorized, planned, scheduled, upcoming, processing, in progress, on hold, hold, held,
  uncompleted, incomplete, awaiting, open, placed, future, draft, unsettled, forecast, forecasted, unposted, created,
  active, initiated, vorgemerkt, umsatz vorgemerkt, offen, ausstehend, in bearbeitung, geplant, reserviert,
  autorisiert, angekündigt, gereserveerd, in behandeling, gepland, en attente, en cours, à venir, prévu, autorisé,
  in attesa, autorizzato, da contabilizzare, non contabilizzato, in corso, pianificato, pendiente, autorizado,
  en proceso, programado, pendente, agendado, em processamento, em aberto, futuro, oczekująca, oczekujące, w toku,
  zaplanowana, blokada, autoryzacja, niezaksięgowana, čeká na zaúčtování, čekající, plánovaná, blokace, reserverad,
  väntande, reserverat, kommande, preliminär, planerad, venter, reserveret, afventer, ventende, reservert, planlagt,
  varaus, odottaa, függőben, zárolt, beklemede, bekliyor, в обработке, ожидает, авторизован, заморожен, hold,
  в ожидании, запланирован, 等待付款, 待支付, 处理中, 等待买家付款, 等待确认收货, 待确认, 未確定, 予定, 保留中, 대기,
  처리중
`);
const FAILED = splitList(`
  failed, failure, declined, rejected, refused, cancelled, canceled, reverted, voided, void, expired, denied,
  returned unpaid, aborted, error, unsuccessful, not accepted, removed, blocked, abgelehnt, storniert, abgebrochen,
  fehlgeschlagen, nicht ausgeführt, verfallen, rückgängig, zurückgewiesen, geweigerd, geannuleerd, mislukt, verlopen,
  refusé, annulé, rejeté, échoué, expiré, rifiutato, rifiutata, annullato, annullata, respinto, fallito, stornato,
  rechazado, rechazada, cancelado, cancelada, anulado, fallido, denegado, caducado, recusado, recusada, rejeitado,
  estornado, negado, falhou, não autorizado, odrzucona, odrzucono, anulowana, anulowano, zwrócona, zamítnuto, zrušeno,
  odmítnuto, stornováno, avvisad, avbruten, makulerad, nekad, misslyckad, afvist, annulleret, slettet, avvist,
  kansellert, avbrutt, hylätty, peruttu, peruutettu, elutasítva, sikertelen, törölt, reddedildi, iptal, iptal edildi,
  başarısız, отклонен, отклонено, отменен, отменено, отказ, неуспешно, ошибка, отмена, 交易关闭, 已关闭, 支付失败,
  失败, 已撤销, 交易失败, 已退回, 取消, キャンセル, 失敗, 취소, 거절, 실패, geschlossen
`);

export type EntryStatus = 'done' | 'pending' | 'failed';

function normalize(word: string): string {
  // Every text of a file is normalized here: plain ASCII, the usual case, skips the slow Unicode step.
  const plainText = /^[ -~]*$/.test(word) ? word : word.normalize('NFKD').replace(/\p{M}/gu, '');
  return plainText
    .replace(/[\s_-]+/g, ' ')
    .trim()
    .toLowerCase();
}

const STATUSES = new Map<string, EntryStatus>([
  ...DONE.map((word) => [normalize(word), 'done'] as const),
  ...PENDING.map((word) => [normalize(word), 'pending'] as const),
  ...FAILED.map((word) => [normalize(word), 'failed'] as const),
]);
/** Longer texts are not looked up as statuses. */
const MAX_WORD_LENGTH = 40;

/** @returns undefined for an unknown word */
export function findStatus(word: string): EntryStatus | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const plainText = normalize(word);
  // Some apps write a check mark or the kind of entry before the word, as in "Payment completed".
  return (
    STATUSES.get(plainText) ??
    STATUSES.get(plainText.replace(/^[^\p{L}\p{N}]+|^(?:payment|transaction|transfer) /u, ''))
  );
}

const BALANCE_PHRASES = splitList(`
  balance, total balance, opening balance, closing balance, beginning balance, ending balance, starting balance,
  start balance, end balance, final balance, initial balance, old balance, new balance, previous balance,
  current balance, available balance, account balance, ledger balance, balance brought forward,
  balance carried forward, brought forward, carried forward, balance forward, balance b f, balance c f, total, totals,
  subtotal, grand total, turnover, total debits, total credits, total debit, total credit, total income,
  total expenses, sum, saldo, anfangssaldo, endsaldo, kontostand, alter kontostand, neuer kontostand, summe,
  alter saldo, neuer saldo, gesamt, gesamtsumme, umsatz gesamt, schlusssaldo, eröffnungssaldo, abschlusssaldo,
  saldovortrag, beginsaldo, eindsaldo, openingssaldo, slotsaldo, totaal, solde, solde initial, solde final,
  solde précédent, nouveau solde, ancien solde, total général, saldo iniziale, saldo finale, saldo contabile, totale,
  totali, saldo inicial, saldo final, saldo anterior, saldo do dia, saldo total disponível dia, saldo actual,
  saldo atual, totais, s a l d o, saldo parcial, totales, saldo początkowe, saldo końcowe, razem, suma, obroty,
  počáteční zůstatek, konečný zůstatek, celkem, likutis pradžioje, likutis pabaigoje, apyvarta, ingående saldo,
  utgående saldo, summa, startsaldo, slutsaldo, alkusaldo, loppusaldo, saldo pr, nyitó egyenleg, záró egyenleg, devir,
  toplam, входящий остаток, исходящий остаток, итого, остаток, всего, 前月繰越, 繰越, 次月繰越, 合計, 小計, 残高,
  יתרה, יתרת פתיחה, יתרת סגירה, 期初余额, 期末余额, 合计, 总计, 小计, 합계, sākuma atlikums, beigu atlikums,
  apgrozījums, atlikums, lõppsaldo, algsaldo, käive, sold initial, sold final, rulaj, upphafsstaða, lokastaða,
  početno stanje, končno stanje, початковий залишок, кінцевий залишок, início saldo, saldo awal, saldo akhir, ยอดยกมา,
  ยอดยกไป, 承前餘額, 餘額, 期初餘額, 期末餘額, 總計, 小計, 이월, summa köp, summa uttag, açılış bakiyesi,
  kapanış bakiyesi
`).map(normalize);
const BALANCES = new Set(BALANCE_PHRASES);
const FIRST_WORDS = new Set(BALANCE_PHRASES.map((phrase) => phrase.split(' ', 1)[0]));
/**
 * Rules out most texts cheaply: a balance begins with one of these words. Words with letters beyond ASCII pass, because such
 * letters can be written in several ways.
 */
const BALANCE_START = new RegExp(
  String.raw`^[\x00-@[-\x60{-\x7f]*(?:(?:${[...FIRST_WORDS].join('|')})(?![a-z])|[a-z]*[^\x00-\x7f])`,
  'i',
);

/** True for "Opening balance" and the like, even if followed by a date, an amount or a colon. */
export function isBalanceText(text: string): boolean {
  if (text.length > 80 || !BALANCE_START.test(text)) return false;
  const plainText = normalize(text)
    .replace(/[*:()./'"-]/g, ' ')
    .replace(/\b(?:as of|at|on|vom|am|per|au|al|em|op|na dzien|ke dni)\b.*$/, '')
    .replace(/[\d,]+.*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return BALANCES.has(plainText);
}

const BALANCE_WORD =
  /(?:^|\s)(?:balance|totals?|subtotal|saldo|saldi|solde|kontostand|zustatek|egyenleg|summe|summa|suma|totaal|totale|totais|totales|bakiye|остаток|итого)(?:\s|$)/;

/** True for short text that mentions a balance or a total: a row with such text and no date is not an entry. */
export function mentionsBalance(text: string): boolean {
  return text.length <= 40 && BALANCE_WORD.test(normalize(text).replace(/[^\p{L}\p{N}]+/gu, ' '));
}

const CONVERSION =
  /currency conversion|conversion (?:de|di|of) |wahrungsumrechnung|umrechnung|conversion de devise|conversione (?:di )?valuta|conversion de divisa|valutaomr|valutawissel|przewalutowanie/;

export function isConversionText(text: string): boolean {
  return text.length < 200 && CONVERSION.test(normalize(text));
}

/**
 * Texts in which a card issuer thanks for a payment or confirms it, unlike the payments in files of other accounts. Only whole
 * words count: "comercio" and "recurring" contain "merci" and "recu".
 */
const CARD_PAYMENT =
  /(?:payments?|pymt|zahlung|paiement|pago|pagamento|betaling|betalning|wpłata)\b.{0,20}\b(?:thanks?|received|dank|danke(?:schon)?|erhalten|merci|recu|gracias|recibido|obrigad[ao]|recebido|grazie|ricevuto|ontvangen|bedankt|tack|mottag(?:en|et)|mottatt|modtaget|erhallen|dziekujemy)\b|\b(?:thanks?|dank|danke|erhaltene|merci|gracias|obrigad[ao]|grazie|bedankt|tack|erhallen|received)\b.{0,20}(?:payment|zahlung|paiement|pago|pagamento|betaling|betalning)\b|ご入金/;
const CARD_REFUND = /credit voucher|refund|return|erstattung/;

/** Recognizes the texts that card companies give to payments they receive. */
export function isCardPayment(text: string): boolean {
  return text.length < 200 && CARD_PAYMENT.test(normalize(text));
}

/** Recognizes a refund. Card files list refunds among the payments, but other files have refunds too. */
export function isCardRefund(text: string): boolean {
  return text.length < 200 && CARD_REFUND.test(normalize(text));
}

/**
 * @param leaveOut status words that the user named
 * @returns why an entry with this status is left out; undefined if it is kept, which includes an unknown status
 */
export function findLeaveOutReason(
  status: string | null,
  leaveOut: readonly string[],
): string | undefined {
  if (status === null) return undefined;
  const isSame = (word: string) => word.trim().toLowerCase() === status.trim().toLowerCase();
  if (leaveOut.some(isSame)) return `"${status}"`;
  const entryStatus = findStatus(status);
  if (entryStatus === 'pending') return `"${status}": not booked yet`;
  return entryStatus === 'failed' ? `"${status}": never happened` : undefined;
}

/**
 * Yes/no columns in which yes means that an entry is still pending or has failed. "Planned" and "scheduled" are
 * deliberately not listed: a purchase that they mark may be booked.
 */
const FLAGS =
  /^(?:is )?(pending|void(?:ed)?|cancell?ed|declined|failed|rejected|removed|vorgemerkt|storniert|pendiente|pendente)$/;
/**
 * Yes/no columns in which yes leaves a doubt: the counterpart of a reversed entry may be in the file too, and money that a
 * budget excludes has still moved. The user must say whether such rows count.
 */
const DOUBTFUL_FLAGS = new Set(
  splitList(`
    reversed, reversal, reverted, refunded, excluded, exclude, ignored, ignore, hidden, storno, stornierung,
    rückgängig, ausgeschlossen, ignoriert, ausgeblendet, verborgen, teruggeboekt, gestorneerd, uitgesloten, genegeerd,
    annulé, extourné, extourne, exclu, contrepassé, ignoré, masqué, anulado, revertido, reversado, extornado,
    excluido, ignorado, oculto, estornado, estorno, excluído, stornato, annullato, escluso, esclusa, ignorato,
    nascosto, anulowana, anulowane, wycofana, zwrócona, wykluczone, wykluczona, ukryte, stornováno, zrušeno,
    vyloučeno, skryto, återförd, makulerad, annullerad, utesluten, exkluderad, dold, tilbageført, annulleret,
    udelukket, skjult, tilbakeført, kansellert, ekskludert, peruttu, palautettu, ohitettu, piilotettu, stornózott,
    sztornó, kizárva, rejtett, iptal, iade, hariç, gizli, сторно, сторнировано, отменено, отменен, исключено,
    исключён, скрыто, скасовано, виключено, 冲正, 已冲正, 撤销, 已撤销, 不计入预算, transfer, internal transfer, 振替,
    不计入收支, 取消, 取消済, 対象外, 計算対象外, 취소, 취소여부, 제외, 숨김
  `).map(normalize),
);
const YES =
  /^(?:true|yes|y|1|x|✓|✔|○|ja|j|oui|vrai|s|s[ií]|vero|verdadero|sim|verdadeiro|tak|prawda|ano|pravda|wahr|waar|sant|sand|kyllä|tosi|igen|igaz|evet|doğru|да|так|истина|是|はい|예)$/i;
const NO =
  /^(?:false|no|n|0|-|nein|nee|non|não|nie|ne|falsch|onwaar|faux|falso|fałsz|nepravda|nej|nei|falskt|falsk|usant|ei|epätosi|nem|hamis|hayır|yanlış|нет|ні|ложь|否|いいえ|아니오|)$/i;

/** Yes/no columns such as "counts towards the budget", in which no means that a row does not count. */
const COUNTED_FLAGS = new Set(
  splitList('計算対象, 集計対象, 计入收支, 计入预算, 是否计入收支').map(normalize),
);

/** @returns why a row with yes in this column is left out; undefined if the column is not such a flag */
export function findFlagReason(header: string): string | undefined {
  const [, word] = FLAGS.exec(normalize(header)) ?? [];
  return word === undefined ? undefined : findLeaveOutReason(word, []);
}

/** True for the name of a column in which no may mean that a row does not count. */
export function isCountedFlag(header: string): boolean {
  return COUNTED_FLAGS.has(normalize(header));
}

/** True for the name of a column in which yes may mean that a row does not count. */
export function isDoubtfulFlag(header: string): boolean {
  const name = normalize(header)
    .replace(/[?:]+$/, '')
    .replace(/^is /, '');
  // Names such as "Excluded from budget" and "Exclude from reports" count as well.
  return DOUBTFUL_FLAGS.has(name) || /^(?:exclude|hide|ignore)d? (?:from|in) /.test(name);
}

export function isYes(cell: string): boolean {
  return YES.test(cell.trim());
}

export function isYesOrNo(cell: string): boolean {
  return isYes(cell) || NO.test(cell.trim());
}
