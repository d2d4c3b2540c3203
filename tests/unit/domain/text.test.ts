// Lengths in characters, blank text, ill-formed text.
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { filledText, text, trimmedText } from '../../../lib/domain/text.ts';

type Schema = ReturnType<typeof text | typeof filledText | typeof trimmedText>;

const faults = (schema: Schema, value: unknown) =>
  v.safeParse(schema, value).issues?.map(({ message }) => message) ?? [];

describe('text', () => {
  test.each(['', ' ', 'abc', '🏠🏠🏠', 'e\u0301\u0301', '\u0000', '\ufeff'])(
    'keeps %j',
    (value) => {
      expect(v.parse(text(3), value)).toBe(value);
    },
  );

  test.each(['abcd', '🏠🏠🏠🏠', 'e\u0301\u0301\u0301'])('%j is too long for 3', (value) => {
    expect(faults(text(3), value)).toEqual(['Must be at most 3 characters.']);
  });

  test.each(['\ud83d', '\ude00', 'a\ude00\ud83d', '\ud83d!'])('%j is ill-formed', (value) => {
    expect(faults(text(9), value)).toEqual(['Must be well-formed Unicode text.']);
  });

  test.each([5, null, undefined, [], {}, true])('%j is no text', (value) => {
    expect(faults(text(9), value)).toEqual(['Must be a string.']);
  });
});

describe('filledText', () => {
  test('is blank where Unicode says that every character is shown as nothing', () => {
    const ignorable = /[\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;
    const schema = filledText(9);
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const text = String.fromCodePoint(code);
      if (!text.isWellFormed()) continue;
      const isBlank = faults(schema, text).length > 0;
      if (isBlank !== ignorable.test(text)) expect.fail(`U+${code.toString(16)}: ${isBlank}`);
    }
  });

  test.each(['', ' ', '\n', '\u00a0\u2003\u3000\ufeff', '\u0000', '\u001b'])(
    '%j is blank',
    (value) => {
      expect(faults(filledText(9), value)).toEqual(['Must not be blank.']);
    },
  );

  // Zero-width space and joiner, soft hyphen, direction mark, variation selector, filler, tag, blank of Braille.
  test.each([
    ...['\u200b', '\u200d\u2060', '\u00ad', '\u202e', '\ufe0f', '\u3164', '\u{e0041}', '\u2800'],
  ])('%j shows nothing: it is blank', (value) => {
    expect(faults(filledText(9), value)).toEqual(['Must not be blank.']);
  });

  test.each(['a\u200b', '\u200f\u05d0', '👨‍👩‍👧', '❤️', '.', '\u0301', '給'])(
    '%j is not blank',
    (value) => {
      expect(v.parse(filledText(9), value)).toBe(value);
    },
  );

  test('keeps the white space around it', () => {
    expect(v.parse(filledText(5), ' abc ')).toBe(' abc ');
  });
});

describe('trimmedText', () => {
  test('is trimmed before it is measured', () => {
    expect(v.parse(trimmedText(3), '   abc\t\n')).toBe('abc');
  });

  test('is trimmed before it is found blank', () => {
    expect(faults(trimmedText(3), '     ')).toEqual(['Must not be blank.']);
  });
});
