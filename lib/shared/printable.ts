// Makes text from outside printable: other people see it later, and it must not forge another line or its appearance.

// Joiners belong to the spelling of names in several scripts; every other format character may turn text around.
const PRINTABLE = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}])*$/u;

/** No control characters, line ends, terminal escapes or overrides of the direction of writing. */
export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text);
}

/** Text that may come from anywhere, with each character that cannot be shown made visible. */
export function asPrintable(text: string): string {
  return isPrintable(text)
    ? text
    : [...text].map((character) => (isPrintable(character) ? character : '\ufffd')).join('');
}

/** `sourceCollection` as `source collection` */
export function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
