// A typed amount is read as the user meant it, or refused.
import { expect, test } from 'vitest';
import { format, readAmount } from '../../../../../web/page/format.ts';

test.each([
  ['12.50', 12.5],
  ['12,50', 12.5],
  ['.5', 0.5],
  ['12.', 12],
  ['1234', 1234],
  ['1,234.50', 1234.5],
  ['1.234,50', 1234.5],
  ['1,234,567', 1_234_567],
  ['12,34,567.50', 1_234_567.5],
  ['€ 1’234.50', 1234.5],
  ['−3', -3],
  ['12..50', undefined],
  ['12,,50', undefined],
  ['1.2.3', undefined],
  ['12,34,56', undefined],
  ['.', undefined],
])('%s is read as %s', (typed, amount) => {
  expect(readAmount(typed)).toBe(amount);
});

test('an amount that a form shows can be read again', () => {
  expect(readAmount(format.amountField(1234.5))).toBe(1234.5);
});
