// Blank and trimmed text. unit/http/record-json.test.ts covers lengths and ill-formed text.
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { nonBlankText, trimmedText } from '../../../../lib/ledger/domain/text.ts';

test('text is blank if all its characters are invisible in Unicode', () => {
  const ignorable = /[\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;
  const schema = nonBlankText(9);
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const text = String.fromCodePoint(code);
    if (!text.isWellFormed()) continue;
    const isBlank = !v.is(schema, text);
    if (isBlank !== ignorable.test(text)) expect.fail(`U+${code.toString(16)}: ${isBlank}`);
  }
});

test.each(['', ' \u00a0\u2003\ufeff', '\u200d\u2060'])('%j is blank', (value) => {
  expect(() => v.parse(nonBlankText(9), value)).toThrow('Must not be blank.');
});

test.each(['a\u200b', '\u200f\u05d0', '👨‍👩‍👧', '❤️', ' abc '])('%j is kept', (value) => {
  expect(v.parse(nonBlankText(9), value)).toBe(value);
});

test('text is trimmed before its length is checked', () => {
  expect(v.parse(trimmedText(3), '   abc\t\n')).toBe('abc');
  expect(() => v.parse(trimmedText(3), '     ')).toThrow('Must not be blank.');
});
