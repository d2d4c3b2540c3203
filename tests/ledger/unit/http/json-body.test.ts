// The body parser distinguishes a missing body, invalid JSON, JSON that is not an object, and an object.
import { describe, expect, test } from 'vitest';
import { createEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { parseJsonBody } from '../../../../lib/ledger/http/json-body.ts';
import { replaceLossyNumbers } from '../../../../lib/ledger/http/json-text.ts';
import { invoke } from '../../support/api/invoke.ts';

const handler = createEndpoint('Failed to echo')
  .use(parseJsonBody())
  .handler(async ({ json }) => ({ status: 200, body: { success: true, data: json } }));

async function parse(body: string | undefined, isBase64Encoded = false, headers = {}) {
  return (await invoke(handler, { body, isBase64Encoded, headers })).json();
}

const createRefusal = (message: string, error = 'validation_failed') => ({
  success: false,
  error,
  message,
});

const encodeBase64 = (text: string) => Buffer.from(text).toString('base64');

const MISSING = ['', ' ', '\r\n', 'null', '{}', '[]', '\ufeff', '\ufeff{}'];
const NOT_OBJECTS = ['5', '"x"', '""', 'true', '0', '[1]', '[null]'];
const MALFORMED = ['{"a":}', 'NaN', '\ufeff\ufeff{"a":1}', '\u0000'];

test('a missing body is refused', async () => {
  expect(await parse(undefined)).toMatchObject({ message: 'No JSON data provided' });
});

describe.each([
  ['No JSON data provided', MISSING],
  ['The request body must be a JSON object', NOT_OBJECTS],
  ['The request body is not valid JSON', MALFORMED],
])('the refusal "%s"', (message, bodies) => {
  test.each(bodies)('applies to the body %j', async (body) => {
    const reply = createRefusal(message);
    expect(await parse(body)).toEqual(reply);
    expect(await parse(encodeBase64(body), true)).toEqual(reply);
  });
});

test.each([
  ['{', 'line 1, column 2'],
  ["{'a':1}", 'line 1, column 2'],
  ['{"a": 1,}', 'line 1, column 9'],
  // The parser replaces the long number first, but the error must name the position in the text that was sent.
  ['{"a": 12345678901234567890, "b": 2 "c": 3}', 'line 1, column 36'],
  ['{"a": 1,\n "b": 2\n "c": 3}', 'line 3, column 2'],
  ['{"a": "secret', 'line 1, column 14'],
  // JSON.parse quotes this body in its message; the quoted position is not the position of the error.
  ['(line 7 column 7)', undefined],
])('a refusal names the position of the error: %s', async (body, position) => {
  const reply = createRefusal(
    `The request body is not valid JSON${position ? `: ${position}` : ''}`,
  );
  expect(await parse(body)).toEqual(reply);
});

describe('bytes that are not UTF-8', () => {
  // Bytes inside {"a":""}: Latin-1, a lone continuation byte, an overlong form, a surrogate, a character that is cut short.
  test.each(['636166e9', '80', 'c0af', 'eda080', 'f09f8f'])('are refused: %s', async (bytes) => {
    const body = Buffer.from(`7b2261223a22${bytes}227d`, 'hex').toString('base64');
    expect(await parse(body, true)).toEqual(createRefusal('The request body is not valid UTF-8'));
  });

  test('are not confused with the replacement character', async () => {
    const body = '{"name":"\ufffd"}';
    expect(await parse(encodeBase64(body), true)).toMatchObject({ data: { name: '\ufffd' } });
  });
});

describe('the size of a body', () => {
  // Each character has two bytes, to show that bytes are counted, not characters.
  const makeBody = (bytes: number) => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;

  test('can be 1,048,576 bytes', async () => {
    const body = makeBody(1_048_576);
    expect(await parse(body)).toMatchObject({ success: true });
    expect(await parse(encodeBase64(body), true)).toMatchObject({ success: true });
  });

  test('cannot be larger', async () => {
    const body = makeBody(1_048_578);
    for (const reply of [await parse(body), await parse(encodeBase64(body), true)]) {
      expect(reply).toEqual(
        createRefusal(
          'The request body must not be larger than 1048576 bytes',
          'payload_too_large',
        ),
      );
    }
  });
});

describe('an object', () => {
  test('can follow a byte order mark, which is skipped', async () => {
    const body = '\ufeff{"a":["\ufeff",{"b":null}],"c":"給🏠"}\n';
    const reply = { success: true, data: JSON.parse(body.slice(1)) };
    expect(await parse(body)).toEqual(reply);
    expect(await parse(encodeBase64(body), true)).toEqual(reply);
  });

  test.each(['{"constructor":{"x":1}}', '{"constructor":1,"prototype":{}}', '{"a":"__proto__"}'])(
    'can have keys that resemble those of a prototype: %s',
    async (body) => expect(await parse(body)).toEqual({ success: true, data: JSON.parse(body) }),
  );
});

describe('a key that reaches into a prototype', () => {
  test.each([
    ['__proto__', '{"a":1,"__proto__":{"x":1}}'],
    ['__proto__', '{"a":[{"\\u005f_proto__":1}]}'],
    ['constructor', '{"constructor":{"prototype":{"x":1}}}'],
  ])('such as %s is refused', async (key, body) => {
    expect(await parse(body)).toEqual(
      createRefusal(`The request body must not have the key "${key}"`),
    );
  });
});

describe('the nesting of a body', () => {
  const nest = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test('can have 512 levels', async () => {
    const body = nest(512);
    expect(await parse(body)).toEqual({ success: true, data: JSON.parse(body) });
  });

  test('does not count closed brackets, or brackets in a string', async () => {
    const body = JSON.stringify({ a: `\\"${'[{'.repeat(600)}`, b: Array(600).fill([{}]) });
    expect(await parse(body)).toMatchObject({ success: true });
  });

  test.each([nest(513), nest(100_000), '['.repeat(1_000_000), '{"a":'.repeat(513)])(
    'cannot have more levels: %.9s',
    async (body) => {
      expect(await parse(body)).toEqual(
        createRefusal('The request body is nested more than 512 levels deep'),
      );
    },
  );
});

describe('a number', () => {
  test.each(['1e-400', '0.1E-999', `0.${'0'.repeat(400)}1`, `0.${'0'.repeat(290)}1e-50`])(
    'that is too small for a double is not 0: %.12s',
    async (number) => {
      const body = `{"a":${number},"b":[-${number}, ${number}]}`;
      const { MIN_VALUE } = Number;
      expect((await parse(body)).data).toEqual({ a: MIN_VALUE, b: [-MIN_VALUE, MIN_VALUE] });
    },
  );

  test.each([
    '0.010000000000000000000001',
    '0.0099999999999999999999999',
    '1.0000000000000000000000001',
    '999999999999.990000000001',
    '10000000000000000000000000000001e-30',
    `1.${'0'.repeat(300_000)}1`,
    '123456789012345678901.001',
  ])('that has more decimals than a double keeps is not an amount: %.30s', async (number) => {
    const { MIN_VALUE } = Number;
    expect((await parse(`{"a":[${number},-${number}]}`)).data.a).toEqual([MIN_VALUE, -MIN_VALUE]);
  });

  test.each(['9007199254740993', '99999999999999999999999', '9'.repeat(400)])(
    'that has more digits than a double keeps becomes infinite, so that it is neither an id nor an amount: %.30s',
    (number) => {
      const { POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number;
      const numbers = JSON.parse(replaceLossyNumbers(`[${number},-${number}]`));
      expect(numbers).toEqual([POSITIVE_INFINITY, NEGATIVE_INFINITY]);
    },
  );

  test.each(['0.0100000000', `1.${'0'.repeat(300_000)}`, '1.250e0', '1250e-2', '100000e-7'])(
    'can be written with more zeros than necessary: %.30s',
    async (number) => expect((await parse(`{"a":${number}}`)).data.a).toBe(Number(number)),
  );

  test.each(['-0', '0e-400', '0.00e5', '5e-324', '12.50', '-1E+2', '1e21', '9007199254740994'])(
    'is otherwise read exactly: %s',
    async (number) => expect((await parse(`{"a":${number}}`)).data.a).toBe(Number(number) + 0),
  );

  test('is not replaced inside a string', async () => {
    const body = '{"1e-400":"1e-400, \\"1e-400","b":"\\\\"}';
    expect((await parse(body)).data).toEqual(JSON.parse(body));
  });
});

describe('a duplicate key', () => {
  test.each([
    ['{"a":1,"a":1}', '"a"'],
    ['{"a":{"b":1 , "c":[{}], "\\u0062"\n:2}}', '"b"'],
    ['{"a":[{"b":1},{"c":1,"":{"c":1},"":1}]}', '""'],
    [`{"${'k'.repeat(300)}":1,"${'k'.repeat(300)}":1}`, `"${'k'.repeat(100)}"`],
  ])('is refused: %.50s', async (body, key) => {
    const message = `The request body must not have the key ${key} twice`;
    expect(await parse(body)).toEqual(createRefusal(message));
  });

  test.each(['{"a":"a","b":["a","a",{"a":"a:"},{"a":{"a":1}}]}', '{"a":"\\",\\"a\\":","b":"b:"}'])(
    'is found only within one object, and never in a string: %s',
    async (body) => expect((await parse(body)).data).toEqual(JSON.parse(body)),
  );
});

describe('an encoded body', () => {
  test.each(['gzip', 'br', 'deflate', 'GZIP', 'gzip, identity'])(
    'is refused with 415: %s',
    async (encoding) => {
      expect(await parse(encodeBase64('{"a":1}'), true, { 'content-encoding': encoding })).toEqual(
        createRefusal(
          `The request body must not be encoded: ${encoding}`,
          'unsupported_media_type',
        ),
      );
    },
  );

  test.each(['identity', ''])('is not assumed if content-encoding is "%s"', async (encoding) => {
    const reply = await parse('{"a":1}', false, { 'content-encoding': encoding });
    expect(reply).toMatchObject({ success: true });
  });
});
