// Builds HTML from template literals; values are escaped unless they are HTML already.
import { maskUnprintable } from '../../../lib/shared/printable.ts';

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(escapePart)));
}

function escapePart(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(escapePart).join('');
  // Masks invisible characters: some are not allowed in a document, and some can reverse its text.
  return maskUnprintable(String(part).toWellFormed()).replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}
