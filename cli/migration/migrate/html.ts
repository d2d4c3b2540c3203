// HTML from template literals: every value is escaped, unless it is HTML already.
import { asPrintable } from '../../../lib/shared/printable.ts';

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
  // Nothing that is not seen: no document may have it, and it may turn the text around.
  return asPrintable(String(part).toWellFormed()).replace(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
