// Checks that searches in the new collection are as fast as in the old one, and find the same memories. Each sampled memory is
// searched for among its user's memories: by its own vector in both collections, and by its own keywords in the new one. Users
// keep writing meanwhile, so a memory that was added, changed or deleted in only one collection does not count as a difference.
import { hash } from 'node:crypto';
import { isSame } from './fate.ts';
import { verbatim } from './json/json-text.ts';
import { findKeywordText } from './json/memory-payload.ts';
import { fetchById } from './pairs.ts';
import {
  KEYWORD_SLOT,
  NO_USER,
  OWNER_KEYS,
  readOwner,
  readOwnerId,
  readUnnamedVector,
  readUser,
} from './points.ts';
import type {
  Filter,
  Hit,
  PointId,
  PointPayload,
  ScrolledPoint,
  SearchRequest,
} from './ports/vector-store.ts';
import type { Journal, Walk } from './runs/journal.ts';
import { type CollectionPlace, readPages } from './scan.ts';
import { isMuchSlower } from './throttle.ts';

interface Probe {
  /** Share of the ten nearest memories that both collections found, from 0 to 1 */
  readonly overlap: number;
  readonly isFirstInOld: boolean;
  readonly isFirstInNew: boolean;
  readonly oldMs: number;
  readonly newMs: number;
  /** Absent for a memory without keywords */
  readonly isFoundByKeywords?: boolean;
}

interface Candidate {
  readonly id: PointId;
  /** Hash of the user; users take turns in its order */
  readonly user: string;
  /** Random rank among the memories of the user */
  readonly rank: string;
}

/** The sample so far, and where the next page begins */
interface Sampling {
  readonly nextOffset: PointId | null;
  readonly sample: readonly Candidate[];
}

/** One entry for each sampled memory; null if the memory has no vector, or differs between the collections */
type Probes = readonly (Probe | null)[];

interface ParitySettings {
  readonly from: CollectionPlace;
  readonly to: CollectionPlace;
  /** True if the store makes keyword vectors. */
  readonly hasKeywords: boolean;
  readonly seed: string;
  /** Test user of the run, whose memories are ignored */
  readonly excludedUser: string;
}

/** Figures about all searches together */
export type Parity = ReturnType<typeof summarizeProbes>;

const SAMPLE_SIZE = 200;
const PAGE_SIZE = 512;
const MAX_RESULTS = 10;
const BATCH_SIZE = 20;
/** Scores closer than this are equal: the store computes in 32 bits. */
const SCORE_TOLERANCE = 1e-5;
/** Scores further apart than this belong to different vectors: the memory was changed. */
const MAX_SCORE_CHANGE = 0.02;

/** Searches both collections for a sample of memories, in two stages. @throws Paused when time is up */
export async function measureParity(
  settings: ParitySettings,
  stages: Journal<object>,
): Promise<Parity> {
  const sample = await stages.once<readonly Candidate[], Sampling>('sampled', (walk) =>
    sampleMemories(settings, walk),
  );
  const probes = await stages.once<Probes, Probes>('searched', (walk) =>
    probeSample(settings, sample, walk),
  );
  return summarizeProbes(probes.filter((probe) => probe !== null));
}

/**
 * Samples memories at random, spread evenly over users. The same seed selects the same memories.
 * @internal Exported for its test.
 */
export async function sampleMemories(
  { from, seed, excludedUser }: Pick<ParitySettings, 'from' | 'seed' | 'excludedUser'>,
  { cursor, checkpoint }: Walk<Sampling>,
): Promise<readonly Candidate[]> {
  let sample = [...(cursor?.sample ?? [])];
  const hashWithSeed = (text: string) => hash('sha256', `${seed}|${text}`).slice(0, 16);
  const request = { limit: PAGE_SIZE, offset: cursor?.nextOffset ?? null, vector: false };
  for await (const { points, nextOffset } of readPages(from, request)) {
    for (const { id, payload } of points) {
      const isSearchable =
        buildOwnerFilter(payload) !== undefined && readUser(payload) !== excludedUser;
      if (isSearchable)
        sample.push({ id, user: hashWithSeed(readOwner(payload)), rank: hashWithSeed(id) });
    }
    sample = spreadOverUsers(sample);
    if (nextOffset !== null) await checkpoint(() => ({ nextOffset, sample }), { isDue: false });
  }
  return sample;
}

async function probeSample(
  settings: ParitySettings,
  sample: readonly Candidate[],
  { cursor, checkpoint }: Walk<Probes>,
): Promise<Probes> {
  const probeAll = createProber(settings);
  const probes = [...(cursor ?? [])];
  while (probes.length < sample.length) {
    const start = probes.length;
    probes.push(...(await probeAll(sample.slice(start, start + BATCH_SIZE))));
    await checkpoint(() => probes);
  }
  return probes;
}

/** Builds a filter for the memory's owner; undefined if none of its ids is a string. */
function buildOwnerFilter(payload: PointPayload): Filter | undefined {
  for (const key of OWNER_KEYS) {
    const value = readOwnerId(payload, key);
    if (value !== NO_USER && !value.startsWith('\0')) return { must: [{ key, match: { value } }] };
  }
  return undefined;
}

/** Takes one memory of each user, then a second of each, and so on. Later pages cannot bring a dropped memory back. */
function spreadOverUsers(candidates: readonly Candidate[]): Candidate[] {
  const candidatesByTurn = [...Map.groupBy(candidates, ({ user }) => user).values()].flatMap(
    (memories) =>
      memories
        .toSorted((first, second) => (first.rank < second.rank ? -1 : 1))
        .map((candidate, turn) => ({ ...candidate, turn })),
  );
  return candidatesByTurn
    .toSorted((first, second) => first.turn - second.turn || (first.user < second.user ? -1 : 1))
    .slice(0, SAMPLE_SIZE)
    .map(({ id, user, rank }) => ({ id, user, rank }));
}

function createProber({ from, to, hasKeywords }: ParitySettings) {
  let isWarmedUp = false;
  let isOldFirst = true;

  return async function probeAll(candidates: readonly Candidate[]): Promise<(Probe | null)[]> {
    const [oldById, newById] = await Promise.all(
      [from, to].map((place) => fetchById(place, candidates)),
    );
    const probes: (Probe | null)[] = [];
    for (const { id } of candidates) {
      const [oldPoint, newPoint] = [oldById?.get(id), newById?.get(id)];
      probes.push(oldPoint && isSame(oldPoint, newPoint) ? await probe(oldPoint) : null);
    }
    return probes;
  };

  async function probe({ id, vector, payload }: ScrolledPoint): Promise<Probe | null> {
    const dense = vector && readUnnamedVector(vector);
    if (!dense) return null;
    const filter = buildOwnerFilter(payload) ?? {};
    const request = { nearest: { vector: dense }, filter, limit: MAX_RESULTS };
    // The first search opens files, so its time is not counted.
    if (!isWarmedUp) await searchBoth(request);
    isWarmedUp = true;
    const results = await searchBoth(request);
    const text = hasKeywords ? findKeywordText(payload) : undefined;
    return {
      overlap: await measureOverlap(request, results.old, results.new),
      isFirstInOld: isFirst(id, results.old),
      isFirstInNew: isFirst(id, results.new),
      oldMs: results.oldMs,
      newMs: results.newMs,
      ...(text && {
        isFoundByKeywords: await isFound(id, { ...request, nearest: { slot: KEYWORD_SLOT, text } }),
      }),
    };
  }

  /** Alternates which collection is searched first, so that other load affects both alike. */
  async function searchBoth(request: SearchRequest) {
    const search = ({ store, collection }: CollectionPlace) => store.search(collection, request);
    const first = await search(isOldFirst ? from : to);
    const second = await search(isOldFirst ? to : from);
    const [oldResult, newResult] = isOldFirst ? [first, second] : [second, first];
    isOldFirst = !isOldFirst;
    return {
      old: oldResult.hits,
      oldMs: oldResult.milliseconds,
      new: newResult.hits,
      newMs: newResult.milliseconds,
    };
  }

  async function measureOverlap(
    request: SearchRequest,
    oldHits: readonly Hit[],
    newHits: readonly Hit[],
  ) {
    const missedHits = oldHits.filter(({ id }) => !newHits.some((hit) => hit.id === id));
    const scores = await fetchScores(missedHits, request);
    const unchangedMissedHits = missedHits.filter(({ id, score }) => {
      const newScore = scores.get(id);
      return newScore !== undefined && Math.abs(newScore - score) <= MAX_SCORE_CHANGE;
    });
    // A hit that is no nearer than the last result is not lost: that result may have displaced it.
    const isLost = ({ id }: Hit) =>
      (scores.get(id) ?? 0) > findCutoffScore(newHits) + SCORE_TOLERANCE;
    const expected = oldHits.length - missedHits.length + unchangedMissedHits.length;
    return expected === 0 ? 1 : 1 - unchangedMissedHits.filter(isLost).length / expected;
  }

  async function isFound(id: PointId, request: SearchRequest): Promise<boolean> {
    const { hits } = await to.store.search(to.collection, request);
    if (hits.some((hit) => hit.id === id)) return true;
    const score = (await fetchScores([{ id, score: 0 }], request)).get(id) ?? 0;
    return Math.abs(score - findCutoffScore(hits)) <= SCORE_TOLERANCE;
  }

  /** Fetches the new collection's scores for those hits that exist there. A hit that no search finds keeps the given score. */
  async function fetchScores(
    hits: readonly Pick<Hit, 'id' | 'score'>[],
    { nearest }: SearchRequest,
  ) {
    if (hits.length === 0) return new Map<PointId, number>();
    const ids = hits.map(({ id }) => id);
    const existingPoints = await to.store.retrieve(to.collection, ids, {
      payload: false,
      vector: false,
    });
    const filter = { must: [{ has_id: ids.map((id) => verbatim(id)) }] } as Filter;
    const result = await to.store.search(to.collection, { nearest, filter, limit: ids.length });
    const scores = new Map([...hits, ...result.hits].map(({ id, score }) => [id, score]));
    return new Map(existingPoints.map(({ id }) => [id, scores.get(id) ?? 0]));
  }
}

/** @returns the score below which results were cut off; minus infinity if the search returned every memory */
function findCutoffScore(hits: readonly Hit[]): number {
  return hits.length < MAX_RESULTS ? Number.NEGATIVE_INFINITY : (hits.at(-1)?.score ?? 0);
}

/** True for the nearest point, or for one of several equally near ones, even if the results leave it out. */
function isFirst(id: PointId, hits: readonly Hit[]): boolean {
  const [best] = hits;
  const score = hits.find((hit) => hit.id === id)?.score ?? findCutoffScore(hits);
  return best !== undefined && score >= best.score - SCORE_TOLERANCE;
}

function summarizeProbes(probes: readonly Probe[]) {
  const computeShare = (predicate: (probe: Probe) => boolean) =>
    average(probes.map((probe) => (predicate(probe) ? 1 : 0)));
  const byKeywords = probes.flatMap(({ isFoundByKeywords }) => isFoundByKeywords ?? []);
  const oldMs = probes.map((probe) => probe.oldMs);
  const newMs = probes.map((probe) => probe.newMs);
  return {
    searched: probes.length,
    overlap: average(probes.map(({ overlap }) => overlap)),
    firstInOld: computeShare(({ isFirstInOld }) => isFirstInOld),
    firstInNew: computeShare(({ isFirstInNew }) => isFirstInNew),
    oldMedianMs: percentile(oldMs, 0.5),
    newMedianMs: percentile(newMs, 0.5),
    oldP95Ms: percentile(oldMs, 0.95),
    newP95Ms: percentile(newMs, 0.95),
    searchedByKeywords: byKeywords.length,
    foundByKeywords: byKeywords.filter((isFound) => isFound).length,
  };
}

/** Picks the parity figures from the facts of a report, so that a later report, made in the window, can repeat them. */
export function pickParity(facts: Readonly<Record<string, string | number | boolean>> = {}) {
  const names = Object.keys(summarizeProbes([]));
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.includes(name)));
}

const MIN_SHARE = 0.98;
/** With fewer searches, the 95th percentile would be the single slowest one. */
const MIN_SEARCHES_FOR_P95 = 20;

/** Lists findings that the operator must repair or accept. */
export function listFindings(parity: Parity): string[] {
  const { searched, overlap, oldMedianMs, newMedianMs, oldP95Ms, newP95Ms } = parity;
  const { searchedByKeywords, foundByKeywords } = parity;
  const byKeywords = searchedByKeywords === 0 ? 1 : foundByKeywords / searchedByKeywords;
  const describeTooFew = (share: number, shareText: string) =>
    `${shareText.replace('%', formatPercent(share))}, ${formatPercent(MIN_SHARE)} or more are expected`;
  const describeSlower = (statistic: string, newMs: number, oldMs: number) =>
    `${statistic} search takes ${Math.round(newMs)} ms where it took ${Math.round(oldMs)} ms`;
  const findings = [
    overlap < MIN_SHARE && describeTooFew(overlap, 'of the ten nearest memories % are the same'),
    byKeywords < MIN_SHARE &&
      describeTooFew(byKeywords, '% of the memories are found by their own keywords'),
    isMuchSlower(newMedianMs, oldMedianMs) &&
      describeSlower('the median', newMedianMs, oldMedianMs),
    searched >= MIN_SEARCHES_FOR_P95 &&
      isMuchSlower(newP95Ms, oldP95Ms) &&
      describeSlower('the slowest of 20', newP95Ms, oldP95Ms),
  ];
  return findings.filter((finding) => finding !== false);
}

/** Formats a share as a percentage, rounded down. */
export function formatPercent(share: number): string {
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

/** @returns 1 if there are no numbers, because nothing differs */
function average(numbers: readonly number[]): number {
  const sum = numbers.reduce((total, number) => total + number, 0);
  return numbers.length === 0 ? 1 : sum / numbers.length;
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((first, second) => first - second);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
