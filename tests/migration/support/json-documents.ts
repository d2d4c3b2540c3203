// Generates JSON documents as text, including number literals that JavaScript itself never writes.
import fc from 'fast-check';
import { anyText } from '../../shared/support/any-text.ts';

export const numberLiterals: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('10.0', '-0', '-0.0', '1e400', '1E+2', '9007199254740993', '0.1000', '2.50'),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map(String),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  fc.tuple(fc.nat(), fc.stringMatching(/^[0-9]{1,20}$/)).map(([whole, part]) => `${whole}.${part}`),
);

// Keys that look like array indexes are moved to the front by every JavaScript object.
const keys = anyText().filter((key) => !/^(0|[1-9]\d*)$/.test(key));

/** Compact documents: no white space, strings escaped as `JSON.stringify` does. */
export const jsonDocuments: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    numberLiterals,
    fc.constantFrom('null', 'true', 'false', '""', '[]', '{}', '"\\\\"', '"a\\"]}"'),
    anyText().map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 6 }).map((elements) => `[${elements.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(keys, tie('value')), { selector: ([key]) => key, maxLength: 6 })
      .map((members) => members.map(([key, value]) => `${JSON.stringify(key)}:${value}`))
      .map((members) => `{${members.join(',')}}`),
  ),
})).value;

/** Adds white space everywhere that JSON allows it. */
export function addSpaces(document: string): string {
  const tokens = document.match(/"(?:[^"\\]|\\.)*"|[^"[\]{},:]+|[[\]{},:]/gsu) ?? [];
  return tokens.map((token) => ` \n\t${token}\r `).join('');
}

export const nest = (depth: number, core: string): string =>
  `${'{"a":['.repeat(depth)}${core}${']}'.repeat(depth)}`;
