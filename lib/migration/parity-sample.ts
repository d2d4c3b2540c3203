// Which memories are searched for: 200, spread over users and ages. The same run takes the same ones of the same memories.
import { hash } from 'node:crypto';
import { NOBODY, userOf } from './points.ts';
import type { PointId } from './ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './scan.ts';

interface Candidate {
  readonly id: PointId;
  /** No id: a hash, which also says whose turn comes first. */
  readonly user: string;
  /** When the memory was made, in milliseconds; 0 where it does not say. */
  readonly at: number;
}

/** Plain JSON, and small: a checkpoint. */
export interface Sampling {
  readonly isComplete: boolean;
  readonly nextOffset: PointId | null;
  readonly kept: readonly Candidate[];
}

export const SAMPLING_START: Sampling = { isComplete: false, nextOffset: null, kept: [] };

const SAMPLED = 200;
/** To choose from: of each user some of other ages. */
const KEPT = 5 * SAMPLED;
const PAGE = 512;

/** Goes on from a checkpoint, to the end or until time is up. */
export async function sampleMemories(
  place: CollectionPlace,
  options: {
    readonly seed: string;
    readonly without: string;
    readonly start: Sampling;
    readonly isTimeUp: () => boolean;
  },
): Promise<Sampling> {
  const { seed, without, start, isTimeUp } = options;
  if (start.isComplete) return start;
  let kept = [...start.kept];
  const request = { limit: PAGE, offset: start.nextOffset, vector: false };
  for await (const { points, nextOffset } of pagesOf(place, request)) {
    for (const { id, payload } of points) {
      const user = userOf(payload);
      // The others have no user to search with.
      const isSearchable = user !== NOBODY && !user.startsWith('\0') && user !== without;
      if (isSearchable) kept.push({ id, user: chanceOf(seed, user), at: timeOf(payload) });
    }
    if (kept.length > 2 * KEPT) kept = inTurns(seed, kept).slice(0, KEPT);
    const isComplete = nextOffset === null;
    if (isComplete || isTimeUp()) {
      return { isComplete, nextOffset, kept: inTurns(seed, kept).slice(0, KEPT) };
    }
  }
  return { isComplete: true, nextOffset: null, kept };
}

/** As many of each user as come first in turns, and of those that were kept of that user the oldest to the newest. */
export function chooseSample(seed: string, { kept }: Sampling): PointId[] {
  const byUser = Map.groupBy(kept, ({ user }) => user);
  const chosen = Map.groupBy(inTurns(seed, kept).slice(0, SAMPLED), ({ user }) => user);
  return [...chosen].flatMap(([user, { length: wanted }], n) => {
    const byAge = (byUser.get(user) ?? []).toSorted((one, other) => one.at - other.at);
    // Where each user has one, the first gives its oldest, and the last its newest.
    const places = Array.from({ length: wanted }, (_, nth) => (nth + n / chosen.size) / wanted);
    return places.flatMap((share) => byAge[Math.floor(share * byAge.length)]?.id ?? []);
  });
}

/** One of each user, then another of each user, and so on: what is cut off at the end never comes back. */
function inTurns(seed: string, candidates: readonly Candidate[]): Candidate[] {
  const turns = [...Map.groupBy(candidates, ({ user }) => user).values()].flatMap((own) =>
    own
      .map((candidate) => ({ candidate, chance: chanceOf(seed, candidate.id) }))
      .toSorted((one, other) => (one.chance < other.chance ? -1 : 1))
      .map(({ candidate }, turn) => ({ candidate, turn })),
  );
  return turns
    .toSorted(
      (one, other) => one.turn - other.turn || (one.candidate.user < other.candidate.user ? -1 : 1),
    )
    .map(({ candidate }) => candidate);
}

function chanceOf(seed: string, text: string): string {
  return hash('sha256', `${seed}|${text}`).slice(0, 16);
}

function timeOf(payload: string): number {
  const { created_at: at } = JSON.parse(payload) as { readonly created_at?: unknown };
  return Date.parse(String(at)) || 0;
}
