// Shared by both versions of the memory backend: their interface, the payload of a memory, and the search by words.
import { createHash, randomUUID } from 'node:crypto';
import type { VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { asJsonText, toJsonText } from '../../lib/migration/json/json-text.ts';
import type { Filter, Point } from '../../lib/migration/ports/vector-store.ts';

export interface VersionSettings {
  readonly store: VectorStore;
  /** The collection-name setting as it was when this version started. */
  readonly collection: string;
  readonly dimensions: number;
  readonly now: () => Date;
}

export interface MemoryVersion {
  /** @returns the ids of the memories made from the text */
  add(userId: string, text: string): Promise<string[]>;
  search(userId: string, query: string): Promise<unknown[]>;
  count(userId: string): Promise<number>;
  /** Returns the response of /graph/relationships. */
  relationships(userId: string): Promise<Record<string, unknown>>;
}

/** Payload fields that mem0 indexes as soon as it starts. */
export const SCOPE_KEYS = ['user_id', 'agent_id', 'run_id', 'actor_id'];

export function filterByUser(userId: string): Filter {
  return { must: [{ key: 'user_id', match: { value: userId } }] };
}

export function createMemory(userId: string, text: string, at: Date): Record<string, unknown> {
  return {
    user_id: userId,
    data: text,
    hash: createHash('md5').update(text).digest('hex'),
    created_at: at.toISOString(),
    updated_at: at.toISOString(),
  };
}

export function toPoint(vector: unknown, payload: Record<string, unknown>): Point {
  return {
    id: toJsonText(randomUUID()),
    vector: asJsonText(JSON.stringify(vector)),
    payload: toJsonText(payload),
  };
}

export async function countMemories(
  { store, collection }: VersionSettings,
  userId: string,
): Promise<number> {
  return await store.count(collection, filterByUser(userId));
}

/** Returns the user's memories that share a word with the query, best first. */
export async function searchWords(settings: VersionSettings, userId: string, query: string) {
  const { store, collection } = settings;
  const filter = filterByUser(userId);
  const page = await store.scroll(collection, { limit: 1_000, filter, vector: false });
  const queryWords = splitWords(query);
  return page.points
    .map(({ id, payload }) => ({ id: JSON.parse(id), memory: readText(payload) }))
    .map((memory) => ({ ...memory, score: countShared(splitWords(memory.memory), queryWords) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
}

export function readText(payload: string): string {
  const { data } = JSON.parse(payload) as { data?: unknown };
  return typeof data === 'string' ? data : '';
}

export function splitWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

export function countShared(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...words].filter((word) => others.has(word)).length;
}
