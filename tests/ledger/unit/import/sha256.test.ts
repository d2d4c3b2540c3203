// The two implementations of SHA-256 agree, so that rows have the same ids on the command line and in a browser.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashWithNoble, sha256Hex } from '../../../../lib/ledger/import/sha256.ts';
import { anyText } from '../../../shared/support/any-text.ts';
import { SEED, seeded } from '../../../shared/support/seed.ts';

it(`Node and @noble/hashes agree on any text (seed ${SEED})`, () => {
  expect(sha256Hex).not.toBe(hashWithNoble);
  const texts = anyText({ maxLength: 200 });
  fc.assert(
    fc.property(texts, (text) => sha256Hex(text) === hashWithNoble(text)),
    seeded(100),
  );
});
