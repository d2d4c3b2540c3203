// Counts every point by its user, exactly, and notices those that the new version would no longer find.
import * as v from 'valibot';
import { pagesOf } from '../copy/collection-pages.ts';
import { keywordTextOf } from '../json/memory-payload.ts';
import type { VectorStore } from '../ports/vector-store.ts';

export interface Census {
  readonly points: number;
  /** Points by user, for ids as the new version accepts them. */
  readonly users: ReadonlyMap<string, number>;
  /** Points whose user the new version would not find again, by the reason. */
  readonly unreachable: Readonly<Record<Unreachable, number>>;
  /** Points that the new version hides because of a date that was only a remark to the old one. */
  readonly expired: number;
  /** Points with a text, which hybrid search needs a keyword vector of. */
  readonly withText: number;
}

export const UNREACHABLE = ['absent', 'not-a-text', 'white-space', 'camel-case'] as const;

export type Unreachable = (typeof UNREACHABLE)[number];

const KEYS = ['user_id', 'userId', 'expiration_date', 'data', 'text_lemmatized'];
const PAGE = 1_000;

const payloadSchema = v.nullish(
  v.object({
    user_id: v.unknown(),
    userId: v.unknown(),
    expiration_date: v.unknown(),
  }),
);

/** One walk over the collection; a snapshot of it only while nobody writes. */
export async function takeCensus(
  store: Pick<VectorStore, 'scroll'>,
  { collection, now, pageSize = PAGE }: { collection: string; now: Date; pageSize?: number },
): Promise<Census> {
  const users = new Map<string, number>();
  const unreachable = { absent: 0, 'not-a-text': 0, 'white-space': 0, 'camel-case': 0 };
  const figures = { points: 0, expired: 0, withText: 0 };
  const request = { limit: pageSize, payload: KEYS, vector: false };
  for await (const { points } of pagesOf({ store, collection }, request)) {
    for (const { payload: text } of points) {
      const payload = v.parse(payloadSchema, { ...NOTHING, ...JSON.parse(text) }) ?? NOTHING;
      const reason = whyUnreachable(payload);
      if (reason) unreachable[reason] += 1;
      else users.set(String(payload.user_id), (users.get(String(payload.user_id)) ?? 0) + 1);
      figures.points += 1;
      if (isPast(payload.expiration_date, now)) figures.expired += 1;
      if (keywordTextOf(text) !== undefined) figures.withText += 1;
    }
  }
  return { ...figures, users, unreachable };
}

type Payload = NonNullable<v.InferOutput<typeof payloadSchema>>;

const NOTHING: Payload = {
  user_id: undefined,
  userId: undefined,
  expiration_date: undefined,
};

// What mem0 does from 2.0.0 on: white space inside is refused, around it is cut off, numbers become texts.
function whyUnreachable({ user_id, userId }: Payload): Unreachable | undefined {
  if (user_id === undefined || user_id === null || user_id === '') {
    return userId === undefined ? 'absent' : 'camel-case';
  }
  if (typeof user_id !== 'string') return 'not-a-text';
  return /\s/.test(user_id) ? 'white-space' : undefined;
}

// A date that cannot be read hides nothing: the new version compares only what it can parse.
function isPast(value: unknown, now: Date): boolean {
  return typeof value === 'string' && Date.parse(value) < now.getTime();
}
