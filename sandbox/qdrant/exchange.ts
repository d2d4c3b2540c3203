// One request as the calls of the sandbox see it, and the answers that are not the ordinary envelope.
import type { IncomingMessage } from 'node:http';
import { malformed } from './refusal.ts';

export interface Exchange {
  /** Parameters of the route's pattern, by name. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; empty for the streamed routes. */
  readonly body: string;
  readonly incoming: IncomingMessage;
}

/** Accepted, and continued in the background: 202. */
export const ACCEPTED = Symbol('accepted');

export class PlainText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Without an envelope. */
export class BareJson {
  readonly value: object;

  constructor(value: object) {
    this.value = value;
  }
}

/** A file of known length, with ranges; a streamed one has neither a length nor ranges. */
export class FileAnswer {
  readonly file: string;
  readonly size: number;
  readonly isStreamed: boolean;

  constructor(file: string, size: number, isStreamed: boolean) {
    this.file = file;
    this.size = size;
    this.isStreamed = isStreamed;
  }
}

export function nameIn({ path }: Exchange, parameter: string): string {
  return path[parameter] ?? '';
}

/** The body as the generated schema has it; the sandbox checks what it uses. */
export function jsonBody<Body>({ body }: Exchange): Body {
  try {
    return JSON.parse(body) as Body;
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : 'not JSON');
  }
}

export function isTrue({ query }: Exchange, parameter: string, fallback: boolean): boolean {
  const given = query.get(parameter);
  return given === null ? fallback : given === 'true';
}
