// Reads single members of a memory's payload, and its keyword text, without parsing the rest.
import type { PointPayload } from '../ports/vector-store.ts';
import { scanJson } from './json-scanner.ts';
import { asJsonText, type JsonText } from './json-text.ts';

/**
 * Reads a member; undefined if it is missing. The payload is parsed only if the key occurs in it; keys never contain escapes.
 * @param parse `parseLossless` if a number must not be rounded
 */
export function readMember(
  payload: PointPayload,
  key: string,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  if (!payload.includes(`"${key}"`)) return undefined;
  return (parse(payload) as Readonly<Record<string, unknown>> | null)?.[key];
}

/** @returns the time of the last change, as mem0 stored it; 0 if it is missing */
export function readChangeTime(payload: PointPayload): number {
  const text = readMember(payload, 'updated_at') ?? readMember(payload, 'created_at');
  const time = Date.parse(String(text));
  return Number.isNaN(time) ? 0 : time;
}

/**
 * Finds the text for keywords, as a JSON string: `text_lemmatized` or else `data`, as in mem0. Undefined if the text has only stop
 * words.
 */
export function findKeywordText(payload: PointPayload): JsonText<string> | undefined {
  const memory = scanJson(payload === 'null' ? '{}' : payload).texts();
  const text = [memory.text_lemmatized, memory.data].find(
    (candidate) => candidate && hasTokens(candidate),
  );
  return text === undefined ? undefined : asJsonText(text);
}

function hasTokens(text: string): boolean {
  return text.startsWith('"') && hasKeywordTokens(String(JSON.parse(text)));
}

// Stop words of both versions of mem0. Words with an apostrophe become two tokens, so the list has both parts.
const STOP_WORDS = new Set(
  (
    'a about above after again against ain all am an and any are aren as at be because been before being below ' +
    'between both but by can couldn d did didn do does doesn doing don down during each few for from further had ' +
    'hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself ' +
    'just ll m ma me mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ' +
    'ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them ' +
    'themselves then there these they this those through to too under until up ve very was wasn we were weren what ' +
    'when where which while who whom why will with won wouldn y you your yours yourself yourselves'
  ).split(' '),
);

/** fastembed drops longer tokens, so no query contains them. */
const MAX_TOKEN_LENGTH = 40;

function hasKeywordTokens(text: string): boolean {
  const words = text.toLowerCase().matchAll(/[\p{Alphabetic}\p{N}]+/gu);
  return words.some(([word]) => word.length <= MAX_TOKEN_LENGTH && !STOP_WORDS.has(word));
}
