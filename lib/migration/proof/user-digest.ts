// How users are told apart where their ids must not be read: in logs, reports and messages.
import { createHash } from 'node:crypto';

/** Stable over runs, so that an operator who has an id can find its lines. */
export function userDigest(userId: string): string {
  return `user-${createHash('sha256').update(userId).digest('hex').slice(0, 16)}`;
}
