// Synchronous SHA-256. Node has it built in; browsers have only an asynchronous one, so they use the library @noble/hashes.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

interface Host {
  readonly process?: {
    readonly getBuiltinModule?: (
      name: 'node:crypto',
    ) =>
      | { readonly hash: (algorithm: 'sha256', text: string, encoding: 'hex') => string }
      | undefined;
  };
}

const host = globalThis as Host;
const crypto = host.process?.getBuiltinModule?.('node:crypto');
const encoder = new TextEncoder();

export const sha256Hex: (text: string) => string = crypto
  ? (text) => crypto.hash('sha256', text, 'hex')
  : hashWithNoble;

/** @internal The variant for browsers, exported for its test. */
export function hashWithNoble(text: string): string {
  return bytesToHex(sha256(encoder.encode(text)));
}
