// The truth table of a three-way merge: which version of a memory is right, for every combination of the two sides and the
// last common version.
import { expect, it, test } from 'vitest';
import {
  type CommonVersion,
  decideFate,
  type Fate,
  haveSameDigest,
} from '../../../lib/migration/fate.ts';
import { digestPoint } from '../../../lib/migration/points.ts';
import { createPoint } from '../support/vector-stores.ts';

type Letter = '-' | 'a' | 'b' | 'c';
/** `?`: unknown. `+`: neither side had the memory, but a killed walk may have inserted it. */
type BaseLetter = '-' | 'a' | '?' | '+';

const memory = (letter: Letter) =>
  letter === '-' ? undefined : createPoint(7, JSON.stringify({ user_id: 'ada', data: letter }));

function toCommonVersion(letter: BaseLetter): CommonVersion {
  if (letter === '?') return 'unknown';
  if (letter === '+') return 'inserting';
  if (letter === '-') return 'absent';
  const { id, payload } = createPoint(7, JSON.stringify({ data: letter, user_id: 'ada' }));
  return digestPoint(id, payload);
}

/** Active, standby and last common version */
const TABLE: readonly (readonly [Letter, Letter, BaseLetter, Fate])[] = [
  ['a', 'a', 'a', 'same'],
  ['b', 'b', 'a', 'same'],
  ['b', 'a', 'a', 'forward'],
  ['-', 'a', 'a', 'forward'],
  ['b', '-', '-', 'forward'],
  ['a', 'b', 'a', 'backward'],
  ['a', '-', 'a', 'backward'],
  ['-', 'b', '-', 'backward'],
  ['b', 'c', 'a', 'conflict'],
  ['b', '-', 'a', 'conflict'],
  ['-', 'c', 'a', 'conflict'],
  ['b', 'c', '-', 'conflict'],
];

/** Rows without a certain last common version: then the active side is right, unless a deleted memory would come back. */
const UNCERTAIN: typeof TABLE = [
  ['a', 'a', '?', 'same'],
  ['a', 'b', '?', 'forward'],
  ['a', '-', '?', 'forward'],
  ['-', 'b', '?', 'forward'],
  ['b', 'b', '+', 'same'],
  ['b', '-', '+', 'forward'],
  ['-', 'b', '+', 'conflict'],
  ['b', 'c', '+', 'conflict'],
];

test.each([...TABLE, ...UNCERTAIN])(
  'active %s, standby %s, last common version %s: %s',
  (active, standby, base, fate) => {
    expect(decideFate(memory(active), memory(standby), toCommonVersion(base))).toBe(fate);
  },
);

it('the truth table is symmetric: forward from one side is backward from the other', () => {
  const mirrored = { same: 'same', forward: 'backward', backward: 'forward', conflict: 'conflict' };
  for (const [active, standby, base, fate] of TABLE) {
    expect(decideFate(memory(standby), memory(active), toCommonVersion(base))).toBe(mirrored[fate]);
  }
});

it('two collections without known digests do not count as equal', () => {
  expect(haveSameDigest({ digest: 'ab' }, { digest: 'ab' })).toBe(true);
  expect(haveSameDigest({ digest: 'ab' }, { digest: 'cd' })).toBe(false);
  expect(haveSameDigest({}, { digest: undefined })).toBe(false);
});
