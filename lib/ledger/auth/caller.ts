// Who sends a request: the ledger that the key or token opens, and what it may do there.
import { createHash } from 'node:crypto';
import type { Scope } from '../domain/api-key.ts';

export interface Caller {
  /** The only ledger that the request can reach. */
  readonly ledger: string;
  /** Undefined where a token grants nothing here. */
  readonly scope: Scope | undefined;
}

/** How a caller was identified: by a key, by an access token, or as one who needs neither. */
export interface IdentifiedCaller extends Caller {
  readonly kind: 'key' | 'token' | 'anonymous';
  /** Only if an API key was used. */
  readonly keyId?: string;
  readonly name?: string;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_BYTES = 16;
/** Number of digits, in base 62, of the largest 128-bit number. */
const ID_LENGTH = 22;

/**
 * The ledger of a person, as a digest, because a subject may contain any character. The issuer is part of it, so that two
 * issuers never share a ledger.
 */
export function ledgerOfSubject(issuer: string, subject: string): string {
  return ledgerOfDigest(createHash('sha256').update(`${issuer}\n${subject}`).digest());
}

/**
 * 128 bits of a digest as 22 letters and digits: every item of the ledger has the id in its key, and a transaction once in
 * the key of each index.
 */
export function ledgerOfDigest(digest: Buffer): string {
  const base = BigInt(DIGITS.length);
  let rest = BigInt(`0x${digest.toString('hex', 0, ID_BYTES)}`);
  let id = '';
  while (id.length < ID_LENGTH) {
    id = `${DIGITS[Number(rest % base)]}${id}`;
    rest /= base;
  }
  return id;
}
