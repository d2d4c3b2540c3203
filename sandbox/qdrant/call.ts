// A request as the sandbox's handlers receive it, and the results that are sent without Qdrant's usual envelope
import type { IncomingMessage } from 'node:http';
import { malformed } from './refusal.ts';

export interface Call {
  /** Parameters of the route's pattern, by name. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON text of the body; empty for the streamed routes. */
  readonly body: string;
  readonly incoming: IncomingMessage;
}

/** Result of work that was accepted, and continues in the background: the response is a 202. */
export const ACCEPTED = Symbol('accepted');

export class PlainText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON without the envelope */
export class BareJson {
  readonly value: object;

  constructor(value: object) {
    this.value = value;
  }
}

/** A file. It is sent with its length and in ranges, unless it is streamed. */
export class FileResult {
  readonly file: string;
  readonly size: number;
  readonly isStreamed: boolean;

  constructor(file: string, size: number, isStreamed: boolean) {
    this.file = file;
    this.size = size;
    this.isStreamed = isStreamed;
  }
}

export function readParameter({ path }: Call, parameter: string): string {
  return path[parameter] ?? '';
}

/** Parses the body and assumes the type of the generated schema; the handlers check the fields that they use. */
export function jsonBody<Body>({ body }: Call): Body {
  try {
    return JSON.parse(body) as Body;
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : 'not JSON');
  }
}

export function readFlag({ query }: Call, parameter: string, fallback: boolean): boolean {
  const value = query.get(parameter);
  return value === null ? fallback : value === 'true';
}
