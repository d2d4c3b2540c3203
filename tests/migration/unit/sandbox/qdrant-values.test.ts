// Values that the Qdrant sandbox writes and the store's contract tests do not cover: floats as text, and point ids.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatFloat32 } from '../../../../sandbox/qdrant/float32-text.ts';
import { toPointKey } from '../../../../sandbox/qdrant/point-ids.ts';
import { DEFAULT_VERSION } from '../../../../sandbox/qdrant/versions.ts';

describe('a 32-bit float', () => {
  test('is read back unchanged', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const readBack = Math.fround(Number(formatFloat32(value)));
        expect(Object.is(readBack, value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [0.1, '0.1'],
    [1, '1.0'],
    [-0, '-0.0'],
    [0.18257418, '0.18257418'],
    [1e-7, '1e-7'],
    [16777216, '16777216.0'],
  ])('%d is written as %s', (value, text) => {
    expect(formatFloat32(Math.fround(value))).toBe(text);
  });
});

test.each(['-1', '1.5', '18446744073709551616', '"memory-1"', 'true'])(
  '%s is not a point id',
  (id) => {
    expect(() => toPointKey(id)).toThrow(/not a valid point ID/);
  },
);

test('the sandbox has the version that compose.yaml and CI start', () => {
  const [image, ciImage] = ['compose.yaml', '.github/workflows/ci.yml'].map((file) => {
    const text = readFileSync(join(import.meta.dirname, '../../../..', file), 'utf8');
    return /qdrant\/qdrant:\S+/.exec(text)?.[0];
  });
  expect(image).toMatch(new RegExp(`:v${DEFAULT_VERSION}@sha256:[0-9a-f]{64}$`));
  expect(ciImage).toBe(image);
});
