// Reads all memories of a collection, and finds the memories that are missing or different in another collection.

import type { VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { digestPoint, digestUser, readUser } from '../../lib/migration/points.ts';
import { readPages } from '../../lib/migration/scan.ts';

interface Held {
  readonly user: string;
  /** Hash of id and payload. */
  readonly digest: string;
  readonly vector: Float32Array;
}

/** Memories by their ids. */
export type Holdings = ReadonlyMap<string, Held>;

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

export async function readHoldings(store: VectorStore, collection: string): Promise<Holdings> {
  const held = new Map<string, Held>();
  for await (const { points } of readPages({ store, collection }, { limit: 256 })) {
    for (const { id, payload, vector = '[]' } of points) {
      held.set(id, {
        user: digestUser(readUser(payload)),
        digest: digestPoint(id, payload).toString('hex'),
        vector: parseDense(vector),
      });
    }
  }
  return held;
}

export function compareHoldings(before: Holdings, after: Holdings): Comparison {
  const counts = countByUser(before);
  const countsNow = countByUser(after);
  const users = new Set([...counts.keys(), ...countsNow.keys()]);
  return {
    before: before.size,
    after: after.size,
    users: counts.size,
    usersDiffering: [...users].filter((user) => counts.get(user) !== countsNow.get(user)).length,
    largest: Math.max(0, ...counts.values()),
    lost: [...before].flatMap(([id, held]) => {
      const fate = describeFate(held, after.get(id));
      return fate === undefined ? [] : [`${id} of ${held.user} ${fate}`];
    }),
    unexpected: [...after]
      .filter(([id]) => !before.has(id))
      .map(([id, { user }]) => `${id} of ${user} was not there before`),
  };
}

function describeFate(held: Held, now: Held | undefined): string | undefined {
  if (!now) return 'is missing';
  if (now.digest !== held.digest) return 'says something else';
  const isSame =
    now.vector.length === held.vector.length &&
    now.vector.every((value, index) => Math.abs(value - (held.vector[index] ?? 0)) <= TOLERANCE);
  return isSame ? undefined : 'has another vector';
}

function countByUser(holdings: Holdings): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { user } of holdings.values()) counts.set(user, (counts.get(user) ?? 0) + 1);
  return counts;
}

// A point with a filled keyword slot has its vectors by name; the dense vector has the empty name.
function parseDense(text: string): Float32Array {
  const vector = JSON.parse(text) as number[] | { readonly '': number[] };
  return Float32Array.from(Array.isArray(vector) ? vector : vector['']);
}
