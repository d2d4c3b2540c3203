// ETags, and the conditions that clients send with them (RFC 9110, section 13).
//
//   "t7.3.0f3a9c21"   transaction 7 (c7: category 7), version 3, and a hash of the whole representation. The hash also changes
//                     if only the category's name or its number of transactions changes: both leave the version as it is.
//
// If-Match compares the record and its version. So does If-None-Match on a write. On a read, If-None-Match compares whole tags.
import { hash } from 'node:crypto';
import type { Category } from '../domain/category.ts';
import type { Revision } from '../domain/record.ts';
import type { TransactionWithCategoryName } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import { createVersionError, type IsExpectedVersion } from '../service/retry-on-conflict.ts';
import type { NoBody, Reply } from './replies.ts';

/** First letters of ETags, by kind of record. */
const TAG_LETTERS = { transaction: 't', category: 'c' } as const;
export type TaggedKind = keyof typeof TAG_LETTERS;

const OWN_TAG = /^"([tc][1-9]\d*)\.([1-9]\d*)\.[0-9a-f]{8}"$/;
const TAG = String.raw`(?:W\/)?"[!#-~\x80-\xff]*"`;
const TAGS = new RegExp(TAG, 'g');
const LIST_OF_TAGS = new RegExp(String.raw`^[\s,]*(?:${TAG}\s*(?:,[\s,]*|$))+$`);

/** @param representation the record as a request for this one record returns it */
export function makeTag(
  kind: TaggedKind,
  { id, version }: Pick<Revision, 'version'> & { readonly id: number },
  representation: object,
): string {
  const digest = hash('sha256', JSON.stringify(representation), 'hex').slice(0, 8);
  return `"${TAG_LETTERS[kind]}${id}.${version}.${digest}"`;
}

/** Headers of a request, with names in lower case. */
interface Conditions {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
}

/**
 * Applies the client's conditions to a read of one record: first If-Match (412), then If-None-Match (304).
 * @throws PreconditionFailedError
 * @throws ValidationError
 */
export function replyIfConditionsHold<Body extends object>(
  reply: Reply<Body>,
  { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: Conditions,
  kind: TaggedKind,
  record: TransactionWithCategoryName | Category,
): Reply<Body | NoBody> {
  const isExpected = readVersionCheck({ 'if-match': ifMatch }, kind, record.id);
  if (!isExpected(record.version)) throw createVersionError(record.version, record);
  return replyIfModified(reply, ifNoneMatch);
}

/**
 * Returns the reply, or 304 without a body if the client already has the same reply.
 * @throws ValidationError
 */
export function replyIfModified<Body extends object>(
  reply: Reply<Body>,
  ifNoneMatch: string | undefined,
): Reply<Body | NoBody> {
  const { etag } = reply.headers ?? {};
  if (etag === undefined || ifNoneMatch === undefined) return reply;
  const knownTags = parseTags(ifNoneMatch).map(dropWeakPrefix);
  if (!knownTags.includes('*') && !knownTags.includes(dropWeakPrefix(etag))) return reply;
  return { status: 304, body: {}, headers: { ...reply.headers } };
}

/**
 * Adds an ETag of the whole body to a reply with several records, or returns 304 without a body if the client already has the
 * same body.
 * @throws ValidationError
 */
export function replyIfListModified<Body extends object>(
  reply: Reply<Body>,
  ifNoneMatch: string | undefined,
): Reply<Body | NoBody> {
  const digest = hash('sha256', JSON.stringify(reply.body), 'hex').slice(0, 16);
  return replyIfModified(
    { ...reply, headers: { ...reply.headers, etag: `"${digest}"` } },
    ifNoneMatch,
  );
}

/**
 * Returns a predicate for versions of this record. It is true for those that the client's conditions allow: `If-Match`, if sent,
 * names the version, and `If-None-Match` does not.
 * @throws ValidationError
 */
export function readVersionCheck(
  { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: Conditions,
  kind: TaggedKind,
  id: number | string,
): IsExpectedVersion {
  const isMatch = ifMatch === undefined ? () => true : matchVersions(ifMatch, kind, id);
  if (ifNoneMatch === undefined) return isMatch;
  const excludedTags = parseTags(ifNoneMatch).map(dropWeakPrefix);
  if (excludedTags.includes('*')) return () => false;
  const versions = listVersions(excludedTags, kind, id);
  return (version) => isMatch(version) && !versions.includes(version);
}

function matchVersions(ifMatch: string, kind: TaggedKind, id: number | string): IsExpectedVersion {
  const tags = parseTags(ifMatch);
  if (tags.includes('*')) return () => true;
  const weakTag = tags.find((tag) => tag.startsWith('W/'));
  if (weakTag) throw new ValidationError(`${weakTag} is a weak ETag: send it without "W/"`);
  const versions = listVersions(tags, kind, id);
  return (version) => versions.includes(version);
}

/** Lists the versions of this record that the tags name. */
function listVersions(tags: readonly string[], kind: TaggedKind, id: number | string): number[] {
  return tags.flatMap((tag) => {
    const [, record, version] = OWN_TAG.exec(tag) ?? [];
    return record === `${TAG_LETTERS[kind]}${id}` ? [Number(version)] : [];
  });
}

function dropWeakPrefix(tag: string): string {
  return tag.replace(/^W\//, '');
}

function parseTags(header: string): string[] {
  if (header.trim() === '*') return ['*'];
  if (!LIST_OF_TAGS.test(header)) {
    const form = 'such as "t7.3.0f3a9c21", with its quotes';
    throw new ValidationError(
      `${JSON.stringify(header)} is not an ETag: send one from a response, ${form}`,
    );
  }
  return header.match(TAGS) ?? [];
}
