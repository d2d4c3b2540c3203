// ETags of single records, and the conditions that clients make with them (RFC 9110, section 13).
//
//   "7.0f3a9c21"   version 7 of the record, and a hash of its representation: that also changes with the name of the
//                  category or the number of its transactions, which are not part of the version
import { createHash } from 'node:crypto';
import type { Revision } from '../domain/record.ts';
import type { IsExpected } from '../ledger/retry-on-conflict.ts';
import type { Reply } from './replies.ts';

/** The reply with the ETag of the record that it shows. */
export function tagged(reply: Reply, { version }: Pick<Revision, 'version'>): Reply {
  const { data } = reply.body;
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 8);
  return { ...reply, headers: { ...reply.headers, etag: `"${version}.${hash}"` } };
}

/** The reply, or 304 without a body where the client has the same representation already. */
export function unlessKnown(reply: Reply, ifNoneMatch: string | undefined): Reply {
  const { etag } = reply.headers ?? {};
  const known = tagsIn(ifNoneMatch).map((tag) => tag.replace(/^W\//, ''));
  if (!etag || !(known.includes('*') || known.includes(etag))) return reply;
  return { status: 304, body: {}, headers: { etag } };
}

/** Whether `If-Match` allows to change a record of a version. */
export function isExpectedBy(ifMatch: string | undefined): IsExpected {
  if (ifMatch === undefined) return () => true;
  const tags = tagsIn(ifMatch);
  return (version) => tags.some((tag) => tag === '*' || tag.startsWith(`"${version}.`));
}

function tagsIn(header: string | undefined): string[] {
  return (header ?? '').split(',').map((tag) => tag.trim());
}
