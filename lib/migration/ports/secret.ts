// A text that finds its way into no log, no record and no answer: it has to be asked for by name.
import { inspect } from 'node:util';

const HIDDEN = '[secret]';

export interface Secret {
  reveal(): string;
}

export function createSecret(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => HIDDEN,
    toJSON: () => HIDDEN,
    [inspect.custom]: () => HIDDEN,
  });
}
