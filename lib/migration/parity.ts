// Checks that searches find the same in the new collection as in the old one, as fast. Sampled memories are searched for
// with their own vectors among their user's memories in both collections, and by their own keywords in the new one. Users go
// on writing meanwhile: a memory that exists or changed on one side only does not count as a difference.
import { hash } from 'node:crypto';
import { isSame } from './fate.ts';
import { verbatim } from './json/json-text.ts';
import { keywordTextOf } from './json/memory-payload.ts';
import { fetchById } from './pairs.ts';
import {
  idIn,
  KEYWORD_SLOT,
  NO_USER,
  OWNER_KEYS,
  ownerOf,
  unnamedVectorOf,
  userOf,
} from './points.ts';
import type {
  Filter,
  Hit,
  PointId,
  PointPayload,
  ScrolledPoint,
  SearchRequest,
} from './ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './scan.ts';
import { isMuchSlower } from './throttle.ts';

interface Probe {
  /** Share of the ten nearest found in both, from 0 to 1 */
  readonly overlap: number;
  readonly isFirstInOld: boolean;
  readonly isFirstInNew: boolean;
  readonly oldMs: number;
  readonly newMs: number;
  /** Absent where it has no keywords. */
  readonly isFoundByKeywords?: boolean;
}

interface Candidate {
  readonly id: PointId;
  /** No id: a hash, which also says whose turn comes first. */
  readonly user: string;
  /** Which of its user's memories comes first. */
  readonly chance: string;
}

interface Sampling {
  readonly isComplete: boolean;
  readonly nextOffset: PointId | null;
  readonly kept: readonly Candidate[];
}

const SAMPLING_START: Sampling = { isComplete: false, nextOffset: null, kept: [] };

/** Plain JSON, and small: a checkpoint. */
export interface ParityReached {
  readonly sampling: Sampling;
  /** One entry for each of the first memories of the sample; null for a memory that was deleted since */
  readonly probes: readonly (Probe | null)[];
}

export const PARITY_START: ParityReached = { sampling: SAMPLING_START, probes: [] };

interface ParitySettings {
  readonly from: CollectionPlace;
  readonly to: CollectionPlace;
  /** True if the store makes keyword vectors. */
  readonly hasKeywords: boolean;
  readonly seed: string;
  /** A user whose memories are left out: the test user of a run. */
  readonly without: string;
}

/** Figures of all that were searched for. */
export type Parity = ReturnType<typeof summarizeProbes>;

const SAMPLED = 200;
const PAGE = 512;
const NEAREST = 10;
const BATCH = 20;
/** Scores this close are equal: the store computes in 32 bits. */
const SAME_SCORE = 1e-5;
/** Scores this far apart are of another vector: the memory was changed. */
const OTHER_SCORE = 0.02;

export interface ParityPorts {
  readonly start: ParityReached;
  readonly save: (reached: ParityReached) => Promise<unknown>;
  readonly isTimeUp: () => boolean;
}

/** Goes on from a checkpoint. @returns undefined when time is up */
export async function measureParity(
  settings: ParitySettings,
  ports: ParityPorts,
): Promise<Parity | undefined> {
  const { start, save, isTimeUp } = ports;
  const sampling = await sampleMemories(settings, start.sampling, isTimeUp);
  let reached: ParityReached = { ...start, sampling };
  await save(reached);
  if (!sampling.isComplete) return undefined;
  const probe = createProbe(settings);
  while (reached.probes.length < sampling.kept.length) {
    if (isTimeUp()) return undefined;
    const at = reached.probes.length;
    const found = await probe(sampling.kept.slice(at, at + BATCH));
    reached = { ...reached, probes: [...reached.probes, ...found] };
    await save(reached);
  }
  return summarizeProbes(reached.probes.filter((probe) => probe !== null));
}

/**
 * Chooses the memories that are searched for, spread over users, and of each by chance. The same run takes the same ones of
 * the same memories. Goes on from a checkpoint, to the end or until time is up. @internal Its test counts users and ages.
 */
export async function sampleMemories(
  { from, seed, without }: Pick<ParitySettings, 'from' | 'seed' | 'without'>,
  start = SAMPLING_START,
  isTimeUp = () => false,
): Promise<Sampling> {
  let { isComplete, nextOffset } = start;
  if (isComplete) return start;
  let kept = [...start.kept];
  const drawRank = (text: string) => hash('sha256', `${seed}|${text}`).slice(0, 16);
  const request = { limit: PAGE, offset: nextOffset, vector: false };
  for await (const page of pagesOf(from, request)) {
    for (const { id, payload } of page.points) {
      const isSearchable = ownerFilter(payload) !== undefined && userOf(payload) !== without;
      if (isSearchable) kept.push({ id, user: drawRank(ownerOf(payload)), chance: drawRank(id) });
    }
    kept = firstInTurns(kept);
    nextOffset = page.nextOffset;
    isComplete = nextOffset === null;
    if (isTimeUp()) break;
  }
  return { isComplete, nextOffset, kept };
}

/** Filter of the memory's owner; undefined if none of its ids is a text. */
function ownerFilter(payload: PointPayload): Filter | undefined {
  for (const key of OWNER_KEYS) {
    const value = idIn(payload, key);
    if (value !== NO_USER && !value.startsWith('\0')) return { must: [{ key, match: { value } }] };
  }
  return undefined;
}

/** One of each user, then another of each user, and so on: what is cut off at the end never comes back. */
function firstInTurns(candidates: readonly Candidate[]): Candidate[] {
  const turns = [...Map.groupBy(candidates, ({ user }) => user).values()].flatMap((own) =>
    own
      .toSorted((one, other) => (one.chance < other.chance ? -1 : 1))
      .map((candidate, turn) => ({ ...candidate, turn })),
  );
  return turns
    .toSorted((one, other) => one.turn - other.turn || (one.user < other.user ? -1 : 1))
    .slice(0, SAMPLED)
    .map(({ id, user, chance }) => ({ id, user, chance }));
}

function createProbe({ from, to, hasKeywords }: ParitySettings) {
  let isWarm = false;
  let oldFirst = true;

  return async function probeAll(wanted: readonly Candidate[]): Promise<(Probe | null)[]> {
    const [ours, theirs] = await Promise.all([from, to].map((one) => fetchById(one, wanted)));
    const probes: (Probe | null)[] = [];
    for (const { id } of wanted) {
      const [old, copied] = [ours?.get(id), theirs?.get(id)];
      probes.push(old && isSame(old, copied) ? await probe(old) : null);
    }
    return probes;
  };

  async function probe({ id, vector, payload }: ScrolledPoint): Promise<Probe | null> {
    const dense = vector && unnamedVectorOf(vector);
    if (!dense) return null;
    const filter = ownerFilter(payload) ?? {};
    const request = { nearest: { vector: dense }, filter, limit: NEAREST };
    // The first search of all opens files, and its time tells nothing.
    if (!isWarm) await searchInTurns(request);
    isWarm = true;
    const found = await searchInTurns(request);
    const text = hasKeywords ? keywordTextOf(payload) : undefined;
    return {
      overlap: await measureOverlap(request, found.old, found.new),
      isFirstInOld: isFirst(id, found.old),
      isFirstInNew: isFirst(id, found.new),
      oldMs: found.oldMs,
      newMs: found.newMs,
      ...(text && {
        isFoundByKeywords: await isFound(id, { ...request, nearest: { slot: KEYWORD_SLOT, text } }),
      }),
    };
  }

  /** In turns: what happens between two searches slows no side down more than the other. */
  async function searchInTurns(request: SearchRequest) {
    const [here, there] = oldFirst ? [from, to] : [to, from];
    const one = await here.store.search(here.collection, request);
    const other = await there.store.search(there.collection, request);
    const [old, copied] = oldFirst ? [one, other] : [other, one];
    oldFirst = !oldFirst;
    return { old: old.hits, oldMs: old.milliseconds, new: copied.hits, newMs: copied.milliseconds };
  }

  async function measureOverlap(
    request: SearchRequest,
    old: readonly Hit[],
    copied: readonly Hit[],
  ) {
    const missed = old.filter(({ id }) => !copied.some((hit) => hit.id === id));
    const scores = await fetchScores(missed, request);
    const present = missed.filter(({ id, score }) => {
      const copiedScore = scores.get(id);
      return copiedScore !== undefined && Math.abs(copiedScore - score) <= OTHER_SCORE;
    });
    // Anything no nearer than the last result may have been cut off in favour of it.
    const isLost = ({ id }: Hit) => (scores.get(id) ?? 0) > lowestScore(copied) + SAME_SCORE;
    const expected = old.length - missed.length + present.length;
    return expected === 0 ? 1 : 1 - present.filter(isLost).length / expected;
  }

  async function isFound(id: PointId, request: SearchRequest): Promise<boolean> {
    const { hits } = await to.store.search(to.collection, request);
    if (hits.some((hit) => hit.id === id)) return true;
    const score = (await fetchScores([{ id, score: 0 }], request)).get(id) ?? 0;
    return Math.abs(score - lowestScore(hits)) <= SAME_SCORE;
  }

  /** In the new collection, of those that are there. What no search finds keeps its score. */
  async function fetchScores(
    hits: readonly Pick<Hit, 'id' | 'score'>[],
    { nearest }: SearchRequest,
  ) {
    if (hits.length === 0) return new Map<PointId, number>();
    const ids = hits.map(({ id }) => id);
    const there = await to.store.retrieve(to.collection, ids, { payload: false, vector: false });
    const filter = { must: [{ has_id: ids.map((id) => verbatim(id)) }] } as Filter;
    const found = await to.store.search(to.collection, { nearest, filter, limit: ids.length });
    const scores = new Map([...hits, ...found.hits].map(({ id, score }) => [id, score]));
    return new Map(there.map(({ id }) => [id, scores.get(id) ?? 0]));
  }
}

/** Lowest score of a search that may have cut off results; infinitely low for a search that returned everything */
function lowestScore(hits: readonly Hit[]): number {
  return hits.length < NEAREST ? Number.NEGATIVE_INFINITY : (hits.at(-1)?.score ?? 0);
}

/** Or one of several that lie equally near: the store may have left it out. */
function isFirst(id: PointId, hits: readonly Hit[]): boolean {
  const [best] = hits;
  const own = hits.find((hit) => hit.id === id)?.score ?? lowestScore(hits);
  return best !== undefined && own >= best.score - SAME_SCORE;
}

function summarizeProbes(probes: readonly Probe[]) {
  const share = (isSo: (probe: Probe) => boolean) =>
    average(probes.map((one) => (isSo(one) ? 1 : 0)));
  const byKeywords = probes.flatMap(({ isFoundByKeywords }) => isFoundByKeywords ?? []);
  const oldMs = probes.map((probe) => probe.oldMs);
  const newMs = probes.map((probe) => probe.newMs);
  return {
    searched: probes.length,
    overlap: average(probes.map(({ overlap }) => overlap)),
    firstInOld: share(({ isFirstInOld }) => isFirstInOld),
    firstInNew: share(({ isFirstInNew }) => isFirstInNew),
    oldMedianMs: percentile(oldMs, 0.5),
    newMedianMs: percentile(newMs, 0.5),
    oldP95Ms: percentile(oldMs, 0.95),
    newP95Ms: percentile(newMs, 0.95),
    searchedByKeywords: byKeywords.length,
    foundByKeywords: byKeywords.filter((isFound) => isFound).length,
  };
}

/** Parity figures among the given facts; a report that was made in the window keeps them. */
export function figuresIn(facts: Readonly<Record<string, string | number | boolean>> = {}) {
  const names = Object.keys(summarizeProbes([]));
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.includes(name)));
}

const LEAST_SHARE = 0.98;
/** Below this number, the slowest search alone would decide. */
const ENOUGH_FOR_P95 = 20;

/** Findings that the operator must repair or accept */
export function findingsIn(parity: Parity): string[] {
  const { searched, overlap, oldMedianMs, newMedianMs, oldP95Ms, newP95Ms } = parity;
  const { searchedByKeywords, foundByKeywords } = parity;
  const byKeywords = searchedByKeywords === 0 ? 1 : foundByKeywords / searchedByKeywords;
  const tooFew = (share: number, are: string) =>
    `${are.replace('%', percentText(share))}, ${percentText(LEAST_SHARE)} or more are expected`;
  const slower = (which: string, newMs: number, oldMs: number) =>
    `${which} search takes ${Math.round(newMs)} ms where it took ${Math.round(oldMs)} ms`;
  const findings = [
    overlap < LEAST_SHARE && tooFew(overlap, 'of the ten nearest memories % are the same'),
    byKeywords < LEAST_SHARE &&
      tooFew(byKeywords, '% of the memories are found by their own keywords'),
    isMuchSlower(newMedianMs, oldMedianMs) && slower('the median', newMedianMs, oldMedianMs),
    searched >= ENOUGH_FOR_P95 &&
      isMuchSlower(newP95Ms, oldP95Ms) &&
      slower('the slowest of 20', newP95Ms, oldP95Ms),
  ];
  return findings.filter((finding) => finding !== false);
}

/** Rounded down. */
export function percentText(share: number): string {
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

/** 1 of nothing: nothing differs. */
function average(numbers: readonly number[]): number {
  return numbers.length === 0 ? 1 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
