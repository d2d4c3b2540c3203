import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeValue,
  encodeValue,
  parseTagged,
  type TaggedValue,
} from '../../../lib/migration/graph/values.ts';
import { anyFloat, anyGraphValue } from '../../support/graph-values.ts';

const RUNS = { numRuns: 2_000 };

test('every value of a graph comes back from a line of JSON as it was', () => {
  fc.assert(
    fc.property(anyGraphValue, (value) => {
      const line = JSON.stringify(encodeValue(value));
      expect(decodeValue(parseTagged(JSON.parse(line)))).toStrictEqual(value);
    }),
    RUNS,
  );
});

test('a value has one text: encoding what was decoded gives the same line', () => {
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

test('what is left of a damaged line is refused, or is a value of a graph all the same', () => {
  const damaged = fc.tuple(anyGraphValue, fc.nat(), fc.string({ maxLength: 2 }));
  fc.assert(
    fc.property(damaged, ([value, at, inserted]) => {
      const line = JSON.stringify(encodeValue(value));
      const cut = at % (line.length + 1);
      const text = line.slice(0, cut) + inserted + line.slice(cut + 1);
      const parsed = refusedOr(() => parseTagged(JSON.parse(text)));
      expect(() => encodeValue(decodeValue(parsed))).not.toThrow();
    }),
    RUNS,
  );
});

function refusedOr(parse: () => TaggedValue): TaggedValue {
  try {
    return parse();
  } catch (error) {
    expect(['RefusedGraph', 'SyntaxError']).toContain((error as Error).name);
    return null;
  }
}
