// Scans one collection in constant memory: counts points and users, and computes digests. Two collections with equal digests
// have the same memories; with equal user digests, every user has as many memories in both.
import * as v from 'valibot';
import type { VectorStore } from './adapters/qdrant.ts';
import { readMember } from './json/memory-payload.ts';
import { countSchema } from './json/schemas.ts';
import {
  createDigestSum,
  digestPoint,
  digestUser,
  hashUser,
  NO_USER,
  OWNER_KEYS,
  readOwner,
  readOwnerId,
  readUser,
} from './points.ts';
import type { PointPayload, ScrollPage, ScrollRequest } from './ports/vector-store.ts';
import { createUserCounts, type UserCounts } from './user-counts.ts';

/** Reasons why the new version would not find a memory by any of the memory's ids */
export const UNREACHABLE = ['absent', 'not-a-text', 'white-space', 'camel-case'] as const;

type Unreachable = (typeof UNREACHABLE)[number];

export const contentsSchema = v.object({
  points: countSchema,
  /** Digest of all ids and payloads */
  digest: v.string(),
  /** Digest of the users of all points */
  usersDigest: v.string(),
  users: countSchema,
  unreachable: v.object(v.entriesFromList(UNREACHABLE, countSchema)),
  /** Points that the new version hides by their expiration_date, which the old one ignores */
  expired: countSchema,
});

export type Contents = Readonly<v.InferOutput<typeof contentsSchema>>;

export interface Scan {
  readonly contents: Contents;
  readonly counts: UserCounts;
}

export interface CollectionPlace<Store = VectorStore> {
  readonly store: Store;
  readonly collection: string;
}

type Scrollable = CollectionPlace<Pick<VectorStore, 'scroll'>>;

const PAGE_SIZE = 512;

/** @param excludedUser the test user of the run, whose points are ignored */
export async function scan(
  place: Scrollable,
  { excludedUser, now = new Date() }: { readonly excludedUser?: string; readonly now?: Date } = {},
): Promise<Scan> {
  const digest = createDigestSum();
  const usersDigest = createDigestSum();
  const counts = createUserCounts();
  const unreachable = { absent: 0, 'not-a-text': 0, 'white-space': 0, 'camel-case': 0 };
  const figures = { points: 0, expired: 0 };
  for await (const { points } of readPages(place, { limit: PAGE_SIZE, vector: false })) {
    for (const { id, payload } of points) {
      if (readUser(payload) === excludedUser) continue;
      const owner = readOwner(payload);
      digest.add(digestPoint(id, payload));
      const hash = hashUser(owner);
      usersDigest.add(hash);
      figures.points += 1;
      if (owner !== NO_USER) counts.add(digestUser(owner, hash));
      const unreachableReason = whyUnreachable(payload);
      if (unreachableReason) unreachable[unreachableReason] += 1;
      if (isExpired(payload, now)) figures.expired += 1;
    }
  }
  const digests = { digest: digest.toHex(), usersDigest: usersDigest.toHex() };
  const contents = { ...figures, ...digests, users: counts.countUsers(), unreachable };
  return { contents, counts };
}

/** Reads a collection page by page; requests the next page while the consumer processes the current one. */
export async function* readPages(
  { store, collection }: Scrollable,
  request: ScrollRequest,
): AsyncGenerator<ScrollPage, void, void> {
  let next = store.scroll(collection, request);
  for (;;) {
    const page = await next;
    if (page.nextOffset === null) return yield page;
    next = store.scroll(collection, { ...request, offset: page.nextOffset });
    // If the consumer stops here, nothing awaits the next page: its failure would be an unhandled rejection.
    next.catch(() => undefined);
    yield page;
  }
}

// mem0 2.x refuses white space inside an id, trims it at both ends, and turns numbers into strings.
function whyUnreachable(payload: PointPayload): Unreachable | undefined {
  const ids = OWNER_KEYS.map((key) => readOwnerId(payload, key)).filter((id) => id !== NO_USER);
  if (ids.length === 0) {
    const hasCamelCase = CAMEL_CASE.some((key) => readMember(payload, key) !== undefined);
    return hasCamelCase ? 'camel-case' : 'absent';
  }
  const reasons = ids.map(whyInvalid);
  return reasons.includes(undefined) ? undefined : reasons[0];
}

const CAMEL_CASE = ['userId', 'agentId', 'runId'];

function whyInvalid(id: string): Unreachable | undefined {
  if (id.startsWith('\0')) return 'not-a-text';
  return /\s/.test(id) ? 'white-space' : undefined;
}

// The new version ignores a date that it cannot parse.
function isExpired(payload: PointPayload, now: Date): boolean {
  const date = readMember(payload, 'expiration_date');
  return typeof date === 'string' && Date.parse(date) < now.getTime();
}
