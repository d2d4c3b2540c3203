// Reads all memories of a collection, and finds the memories that are missing or different in another collection.

import type { VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { digestPoint, digestUser, readUser } from '../../lib/migration/points.ts';
import { readPages } from '../../lib/migration/scan.ts';

interface Memory {
  readonly user: string;
  /** Hash of id and payload. */
  readonly digest: string;
  readonly vector: Float32Array;
}

/** Memories by id. */
export type Memories = ReadonlyMap<string, Memory>;

export interface Comparison {
  readonly before: number;
  readonly after: number;
  readonly users: number;
  /** Users with more or fewer memories than before */
  readonly usersDiffering: number;
  /** Number of memories of the user who has the most */
  readonly largest: number;
  /** A sentence for each lost memory, with its id and what happened to it. */
  readonly lost: readonly string[];
  readonly unexpected: readonly string[];
}

const TOLERANCE = 1e-6;

export async function readMemories(store: VectorStore, collection: string): Promise<Memories> {
  const memories = new Map<string, Memory>();
  for await (const { points } of readPages({ store, collection }, { limit: 256 })) {
    for (const { id, payload, vector = '[]' } of points) {
      memories.set(id, {
        user: digestUser(readUser(payload)),
        digest: digestPoint(id, payload).toString('hex'),
        vector: parseDense(vector),
      });
    }
  }
  return memories;
}

export function compareMemories(before: Memories, after: Memories): Comparison {
  const counts = countByUser(before);
  const countsAfter = countByUser(after);
  const users = new Set([...counts.keys(), ...countsAfter.keys()]);
  return {
    before: before.size,
    after: after.size,
    users: counts.size,
    usersDiffering: [...users].filter((user) => counts.get(user) !== countsAfter.get(user)).length,
    largest: Math.max(0, ...counts.values()),
    lost: [...before].flatMap(([id, memory]) => {
      const difference = describeDifference(memory, after.get(id));
      return difference === undefined ? [] : [`${id} of ${memory.user} ${difference}`];
    }),
    unexpected: [...after]
      .filter(([id]) => !before.has(id))
      .map(([id, { user }]) => `${id} of ${user} did not exist before`),
  };
}

function describeDifference(before: Memory, after: Memory | undefined): string | undefined {
  if (!after) return 'is missing';
  if (after.digest !== before.digest) return 'has a different payload';
  const isSame =
    after.vector.length === before.vector.length &&
    after.vector.every(
      (value, index) => Math.abs(value - (before.vector[index] ?? 0)) <= TOLERANCE,
    );
  return isSame ? undefined : 'has a different vector';
}

function countByUser(memories: Memories): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { user } of memories.values()) counts.set(user, (counts.get(user) ?? 0) + 1);
  return counts;
}

// A point with a filled keyword slot has named vectors; the dense vector has the empty name.
function parseDense(text: string): Float32Array {
  const vector = JSON.parse(text) as number[] | { readonly '': number[] };
  return Float32Array.from(Array.isArray(vector) ? vector : vector['']);
}
