// Unknown field names, names that reach into prototypes, and the number of names that are reported. record-json.test.ts covers
// the schemas of records.
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { ValidationError } from '../../../../lib/ledger/errors.ts';
import { omitUndefined, parseBody, parseFilter } from '../../../../lib/ledger/http/fields.ts';

const schema = v.object(
  { size: v.pipe(v.string('Must be a string.'), v.maxLength(1, 'Must be short.')) },
  'Is required.',
);

function catchDetails(parse: () => unknown) {
  try {
    expect.fail(`Parsed ${JSON.stringify(parse())}`);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details ?? {};
  }
}

test('a refusal names at most 100 fields of a body, known fields first', () => {
  const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`field${n}`, 1]));
  const details = catchDetails(() => parseBody(schema, { ...unknown, size: 5 }));
  expect(Object.keys(details)).toHaveLength(100);
  expect(Object.keys(details).slice(0, 2)).toEqual(['size', 'field0']);
});

test('a refusal cuts off a long name of a field, and leaves no half character', () => {
  const names = ['x'.repeat(100), 'y'.repeat(101), `${'z'.repeat(99)}\u{1f600}`];
  const unknown = Object.fromEntries(names.map((name) => [name, 1]));
  const details = catchDetails(() => parseBody(schema, { ...unknown, size: 'x' }));
  const expectedNames = [names[0], `${'y'.repeat(100)}…`, `${'z'.repeat(99)}\ufffd…`];
  expect(Object.keys(details)).toEqual(expectedNames);
});

test.each(['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
  'a refusal names %s as an unknown field',
  (name) => {
    const body = JSON.parse(`{"size":"x","${name}":{"x":1}}`);
    const details = catchDetails(() => parseBody(schema, body));
    expect(Object.entries(details)).toEqual([[name, ['Is not a known field.']]]);
  },
);

test('a body has no fields from a prototype', () => {
  const details = { size: ['Is required.'] };
  expect(catchDetails(() => parseBody(schema, Object.create({ size: 'x' })))).toEqual(details);
});

test('a refusal names unknown parameters, including read-only fields, and repeated parameters', () => {
  const query = { size: ['10', '1'], other: ['1', '1'], id: '1' };
  expect(catchDetails(() => parseFilter(schema, query))).toEqual({
    size: ['Must be short.', 'Must be sent once.'],
    other: ['Is not a known parameter.', 'Must be sent once.'],
    id: ['Is not a known parameter.'],
  });
});

test('omitUndefined omits fields that were not sent, and keeps null', () => {
  const fields = omitUndefined({ a: 1, b: undefined, c: null, d: false, e: '' });
  expect(fields).toStrictEqual({ a: 1, c: null, d: false, e: '' });
});
