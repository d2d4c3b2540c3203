// What the migration reads of a memory's payload: whose it is, and its text. All else passes unread.

import type { PointPayload } from '../ports/vector-store.ts';
import { scanJson } from './json-scanner.ts';
import { asJsonText, type JsonText } from './json-text.ts';
import { hasKeywordTokens } from './keyword-tokens.ts';

/** A user id as the payload has it: `"alice"` and, in stores that have seen better days, `5`. */
export type UserIdText = JsonText;

interface MemoryPayload {
  readonly user_id: unknown;
  readonly data: unknown;
  readonly text_lemmatized: unknown;
}

const EMPTY = new Set(['null', '[]']);

/** `undefined` when the memory belongs to nobody, as `is_empty` has it. */
export function userIdOf(payload: PointPayload): UserIdText | undefined {
  const { user_id: userId } = membersOf(payload, ['user_id']);
  return userId === undefined || EMPTY.has(userId) ? undefined : asJsonText(userId);
}

/**
 * The text that keywords are taken from, as a JSON string: mem0 itself encodes
 * `text_lemmatized`, else `data`. `undefined` when none is in it: no word, or stop words only.
 */
export function keywordTextOf(payload: PointPayload): JsonText<string> | undefined {
  const { text_lemmatized, data } = membersOf(payload, ['text_lemmatized', 'data']);
  const text = [text_lemmatized, data].find((candidate) => candidate && hasTokens(candidate));
  return text === undefined ? undefined : asJsonText(text);
}

function hasTokens(text: string): boolean {
  return text.startsWith('"') && hasKeywordTokens(String(JSON.parse(text)));
}

function membersOf(payload: PointPayload, names: readonly (keyof MemoryPayload)[]) {
  const members: Partial<Record<keyof MemoryPayload, string>> = {};
  if (payload === 'null') return members;
  const scanner = scanJson(payload);
  for (const name of scanner.members<MemoryPayload>()) {
    if (names.includes(name)) members[name] = scanner.text();
  }
  return members;
}
