// Faults of every field at once, read-only and unknown fields, and names that reach into prototypes.
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../../lib/errors.ts';
import { parseBody, parseFilter, sentOnly } from '../../../lib/http/fields.ts';

const schema = v.object(
  { size: v.pipe(v.number('Must be a number.'), v.maxValue(9, 'Must be small.')) },
  'Is required.',
);

function errorsOf(parse: () => unknown) {
  try {
    return { parsed: parse() };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return { message: error.message, details: error.details };
  }
}

describe('parseBody', () => {
  test('gives the fields it knows, without those that are not the client’s to set', () => {
    const readOnly = {
      id: 1,
      created_at: 2,
      updated_at: 3,
      category_name: 4,
      transaction_count: 5,
    };
    expect(parseBody(schema, { size: 1, ...readOnly })).toEqual({ size: 1 });
  });

  test('tells every fault of every field at once', () => {
    expect(errorsOf(() => parseBody(schema, { size: 'x', a: 1, b: 2 }))).toEqual({
      message: 'Input validation failed',
      details: {
        a: ['Is not a known field.'],
        b: ['Is not a known field.'],
        size: ['Must be a number.'],
      },
    });
  });

  test('names 100 fields at most, known ones first', () => {
    const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`field${n}`, 1]));
    const { details = {} } = errorsOf(() => parseBody(schema, { ...unknown, size: 'x' }));
    expect(Object.keys(details)).toHaveLength(100);
    expect(Object.keys(details).slice(0, 2)).toEqual(['size', 'field0']);
  });

  test('tells what is missing', () => {
    expect(errorsOf(() => parseBody(schema, {}))).toMatchObject({
      details: { size: ['Is required.'] },
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
    'names %s as the unknown field it is',
    (name) => {
      const body = JSON.parse(`{"size":1,"${name}":{"x":1}}`);
      const { details = {} } = errorsOf(() => parseBody(schema, body));
      expect(Object.entries(details)).toEqual([[name, ['Is not a known field.']]]);
    },
  );

  test('finds nothing on a prototype', () => {
    const body = JSON.parse('{"__proto__":{"size":1}}');
    expect(Object.keys(errorsOf(() => parseBody(schema, body)).details ?? {})).toEqual([
      'size',
      '__proto__',
    ]);
    expect(errorsOf(() => parseBody(schema, Object.create({ size: 1 })))).toMatchObject({
      details: { size: ['Is required.'] },
    });
  });
});

describe('parseFilter', () => {
  const filter = v.object({ size: v.pipe(v.string(), v.maxLength(1, 'Must be short.')) });

  test('names unknown parameters, read-only fields among them', () => {
    expect(errorsOf(() => parseFilter(filter, { size: '1', other: '2', id: '3' }))).toEqual({
      message: 'Filter validation failed',
      details: { other: ['Is not a known parameter.'], id: ['Is not a known parameter.'] },
    });
  });

  test('has a message of its own', () => {
    expect(errorsOf(() => parseFilter(filter, { size: '10' }))).toEqual({
      message: 'Filter validation failed',
      details: { size: ['Must be short.'] },
    });
  });

  test('names parameters that are sent more than once, beside every other error', () => {
    const query = { size: ['10', '1'], other: ['1', '1'], id: '1' };
    expect(errorsOf(() => parseFilter(filter, query)).details).toEqual({
      size: ['Must be short.', 'Must be sent once.'],
      other: ['Is not a known parameter.', 'Must be sent once.'],
      id: ['Is not a known parameter.'],
    });
    expect(errorsOf(() => parseFilter(filter, { size: ['1', '1'] })).details).toEqual({
      size: ['Must be sent once.'],
    });
  });
});

test('sentOnly leaves out what was not sent, and keeps null', () => {
  const fields = { a: 1, b: undefined, c: null, d: false, e: '' };
  const sent = sentOnly(fields);
  expect(Object.keys(sent)).toEqual(['a', 'c', 'd', 'e']);
  expect(sent).toEqual({ a: 1, c: null, d: false, e: '' });
});
