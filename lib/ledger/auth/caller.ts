// Who sends a request: the ledger that the key or token opens, and what it may do there.
import { createHash } from 'node:crypto';

export const SCOPES = ['read', 'write'] as const;
/** `read` allows GET; `write` allows every method. */
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  /** The only ledger that the request can reach. */
  readonly ledger: string;
  /** Undefined where a token grants nothing here. */
  readonly scope: Scope | undefined;
}

/** How a caller is known: by a key, by an access token, or as one who needs neither. */
export interface IdentifiedCaller extends Caller {
  readonly kind: 'key' | 'token' | 'anonymous';
  /** Only if an API key was used. */
  readonly keyId?: string;
  readonly name?: string;
}

/**
 * The ledger of a person: `user-` and 43 letters, digits, "-" or "_", because a subject may contain any character.
 * The issuer is part of it, so that two issuers never share a ledger.
 */
export function ledgerOfSubject(issuer: string, subject: string): string {
  return `user-${createHash('sha256').update(`${issuer}\n${subject}`).digest('base64url')}`;
}
