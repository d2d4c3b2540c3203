// Makes text from outside safe to show to other people: it must not forge a line of its own, nor change the look of the text
// around it.

// Joiners belong to the spelling of names in several scripts; every other format character may turn text around.
const PRINTABLE = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}])*$/u;

/** True for a text without control characters, line ends, terminal escapes or overrides of the direction of writing. */
export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text);
}

/** Makes text from any source printable: each character that cannot be shown becomes a visible sign. */
export function asPrintable(text: string): string {
  return isPrintable(text)
    ? text
    : [...text].map((character) => (isPrintable(character) ? character : '\ufffd')).join('');
}

/** Writes a name such as `sourceCollection` as words: `source collection`. */
export function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
