// Free text from clients. Lengths are in characters (Unicode code points), as in JSON Schema.
import * as v from 'valibot';

/**
 * Any character except blanks, control characters, and invisible characters such as a zero-width space. Invisible are those with
 * Unicode's property Default_Ignorable_Code_Point, and the blank Braille pattern.
 */
const VISIBLE = new RegExp(
  [
    String.raw`[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f`,
    String.raw`\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8`,
    '\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]',
  ].join(''),
  'u',
);

const PRINTABLE = new RegExp(`^ *${VISIBLE.source}(?:${VISIBLE.source}| )*$`, 'u');

// The pattern for the API description is weaker than the checks here. It must mean the same in the regular expressions of every
// language, whether they search the text or match all of it.
const NOT_BLANK = String.raw`^[\s\S]*\S[\s\S]*$`;

export function text(maximum: number) {
  return v.pipe(
    v.string('Must be a string.'),
    v.check(isWellFormed, 'Must be well-formed Unicode text.'),
    v.check(createLengthCheck(maximum), `Must be at most ${maximum} characters.`),
    v.metadata({ maxLength: maximum }),
  );
}

export function nonBlankText(maximum: number) {
  return v.pipe(
    text(maximum),
    v.check(hasVisibleCharacter, 'Must not be blank.'),
    v.metadata({ minLength: 1, pattern: NOT_BLANK }),
  );
}

/** A text that is trimmed before it is checked and stored. */
export function trimmedText(maximum: number) {
  return v.pipe(v.string('Must be a string.'), v.trim(), nonBlankText(maximum));
}

/** A text of visible characters and spaces. */
export function printableText(maximum: number) {
  return v.pipe(
    nonBlankText(maximum),
    v.check(isPrintable, 'Must have printable characters only.'),
  );
}

// A lone surrogate has no UTF-8 form, so the table would store a different text.
function isWellFormed(value: string): boolean {
  return value.isWellFormed();
}

function isPrintable(value: string): boolean {
  return PRINTABLE.test(value);
}

function hasVisibleCharacter(value: string): boolean {
  return VISIBLE.test(value);
}

// A character adds at most 2 to `length`, so text that is far too long is refused without counting its characters.
function createLengthCheck(maximum: number) {
  return (value: string) => value.length <= 2 * maximum && [...value].length <= maximum;
}
