// Every value of a graph survives the encoding as a line of JSON.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeValue, encodeValue } from '../../../lib/migration/graph/values.ts';
import { seeded } from '../../shared/support/seed.ts';
import { anyFloat, anyGraphValue } from '../support/graph-values.ts';

const RUNS = seeded(2_000);

test('every value of a graph survives a round trip through a line of JSON', () => {
  fc.assert(
    fc.property(anyGraphValue, (value) => {
      const line = JSON.stringify(encodeValue(value));
      expect(decodeValue(JSON.parse(line))).toStrictEqual(value);
    }),
    RUNS,
  );
});

test('a value has only one encoding: decoding and encoding it again gives the same line', () => {
  fc.assert(
    fc.property(anyGraphValue, (value) => {
      const line = JSON.stringify(encodeValue(value));
      expect(JSON.stringify(encodeValue(decodeValue(JSON.parse(line))))).toBe(line);
    }),
    RUNS,
  );
});

test('a float never looks like an integer', () => {
  fc.assert(
    fc.property(anyFloat, (float) => {
      const json = JSON.stringify(encodeValue(float));
      expect(json).toMatch(/^(\{"\$f":".+"\}|-?\d+\.\d+(e-?\d+)?|-?\d+e-\d+)$/);
    }),
    RUNS,
  );
});
