// Service document, "amount: number, at most 2 decimal places", and the rulings on it.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenTransaction, LUNCH } from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

/** As a client writes it: what JSON.stringify would make of it is not at issue. */
function withAmount(literal: string): string {
  return `{"description":"Lunch","type":"expense","amount":${literal}}`;
}

const postAmount = (literal: string) =>
  api.request('POST', '/transactions', { rawBody: withAmount(literal), headers: JSON_TYPE });

const JSON_TYPE = { 'content-type': 'application/json' };

describe('amount: what is accepted comes back exactly as sent', () => {
  test.each([
    ['0', 0],
    ['0.1', 0.1],
    ['0.01', 0.01],
    ['-0.01', -0.01],
    ['19.99', 19.99],
    ['1.10', 1.1],
    ['1.100', 1.1],
    ['5e-1', 0.5],
    ['1e3', 1000],
    ['1E11', 1e11],
    ['-1', -1],
    ['999999999999.99', 999_999_999_999.99],
    ['-999999999999.99', -999_999_999_999.99],
    ['123456789012.34', 123_456_789_012.34],
  ])('%s', async (literal, amount) => {
    const created = await postAmount(literal);
    expect([created.status, created.body.data?.amount]).toEqual([201, amount]);
    const { body } = await api.get(`/transactions/${created.body.data.id}`);
    expect(body.data.amount).toBe(amount);
  });

  test('-0 is zero', async () => {
    const { status, text } = await postAmount('-0');
    expect([status, text]).toEqual([201, expect.stringContaining('"amount":0,')]);
  });
});

const REFUSED = [
  ['three decimals', '1.005'],
  ['thousandths', '0.001'],
  ['in exponent form', '1e-7'],
  ['too small for a number', '1e-400'],
  ['too small for a number, negative', '-1e-400'],
  ['a sum with its rounding error', String(0.1 + 0.2)],
  ['a cent too much', '1000000000000'],
  ['a cent too little', '-1000000000000'],
  ['beyond what a number holds', '1e400'],
  ['beyond what a number holds, negative', '-1e400'],
  ['huge', '1e21'],
  ['text', '"12.50"'],
  ['empty text', '""'],
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['a list', '[1]'],
  ['an object', '{"value":1}'],
] as const;

describe('amount: what is refused', () => {
  test.each(REFUSED)('on create: %s', async (_, literal) => {
    expectFaults(await postAmount(literal), ['amount']);
  });

  test.each(REFUSED)('on update: %s', async (_, literal) => {
    const { id } = await givenTransaction(api);
    const rawBody = `{"amount":${literal}}`;
    expectFaults(await api.request('PUT', `/transactions/${id}`, { rawBody, headers: JSON_TYPE }), [
      'amount',
    ]);
    expect((await api.get(`/transactions/${id}`)).body.data.amount).toBe(LUNCH.amount);
  });

  test('the sentence tells of the decimal places', async () => {
    const { body } = await postAmount('1.005');
    expect(body.details).toEqual({ amount: ['Must have at most 2 decimal places.'] });
  });
});
