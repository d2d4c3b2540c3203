// The sender of a request: the ledger that the key or token opens, and what it may do there.
import { createHash } from 'node:crypto';
import type { Scope } from '../domain/api-key.ts';

export interface Caller {
  /** The only ledger that the request can reach. */
  readonly ledger: string;
  /** Undefined if a token grants nothing here. */
  readonly scope: Scope | undefined;
}

/** A caller, and how it was identified: by a key, by an access token, or by neither, as anonymous. */
export interface IdentifiedCaller extends Caller {
  readonly kind: 'key' | 'token' | 'anonymous';
  /** Id of the API key, if one was used. */
  readonly keyId?: string;
  readonly name?: string;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_BYTES = 16;
/** Number of digits, in base 62, of the largest 128-bit number. */
const ID_LENGTH = 22;

/**
 * Derives a person's ledger id from a digest, because a subject may contain any character. The issuer is part of the digest, so
 * that two issuers never share a ledger.
 */
export function deriveLedgerId(issuer: string, subject: string): string {
  return encodeLedgerId(createHash('sha256').update(`${issuer}\n${subject}`).digest());
}

/**
 * Writes 128 bits of a digest as 22 letters and digits. The id is short, because every item of the ledger has it in its key,
 * and a transaction has it in the key of each index as well.
 */
export function encodeLedgerId(digest: Buffer): string {
  const base = BigInt(DIGITS.length);
  let remainder = BigInt(`0x${digest.toString('hex', 0, ID_BYTES)}`);
  let id = '';
  while (id.length < ID_LENGTH) {
    id = `${DIGITS[Number(remainder % base)]}${id}`;
    remainder /= base;
  }
  return id;
}
