// Makes untrusted text safe to show: it must not forge a line, or change how the text around it looks.

// Joiners belong to the spelling of names in several scripts; any other format character may reverse text.
const PRINTABLE = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}])*$/u;

/** True for text without control characters, line breaks, terminal escapes and overrides of the text direction. */
export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text);
}

/** Replaces each unprintable character with a visible sign. */
export function maskUnprintable(text: string): string {
  return isPrintable(text)
    ? text
    : [...text].map((character) => (isPrintable(character) ? character : '\ufffd')).join('');
}

/** Writes a name such as `sourceCollection` as words: `source collection`. */
export function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
