// Free text as clients send it. Lengths count characters (Unicode code points), as JSON Schema does.
import * as v from 'valibot';

// The metadata is for the API description: what JSON Schema says of the checks before it.

export function text(maximum: number) {
  return v.pipe(
    v.string('Must be a string.'),
    v.check(isWellFormed, 'Must be well-formed Unicode text.'),
    v.check(atMost(maximum), `Must be at most ${maximum} characters.`),
    v.metadata({ maxLength: maximum }),
  );
}

export function filledText(maximum: number) {
  return v.pipe(
    text(maximum),
    v.check(isNotBlank, 'Must not be blank.'),
    v.metadata({ pattern: '\\S' }),
  );
}

/** Trimmed before it is judged and kept. */
export function trimmedText(maximum: number) {
  return v.pipe(v.string('Must be a string.'), v.trim(), filledText(maximum));
}

/** On one line, without control characters. */
export function printableText(maximum: number) {
  return v.pipe(filledText(maximum), v.check(isPrintable, 'Must have printable characters only.'));
}

// A lone surrogate has no UTF-8 form: a store would keep another text than the one sent.
function isWellFormed(value: string): boolean {
  return value.isWellFormed();
}

function isPrintable(value: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(value);
}

function isNotBlank(value: string): boolean {
  return value.trim() !== '';
}

// No character takes more than two of what `length` counts: a far longer text is not taken apart to be counted.
function atMost(maximum: number) {
  return (value: string) => value.length <= 2 * maximum && [...value].length <= maximum;
}
