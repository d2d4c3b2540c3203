// What counts as a missing body, as no JSON, as no object, and as an object.
import type { Context } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import type { ApiEvent } from '../../../lib/http/api-event.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { jsonBody } from '../../../lib/http/json-body.ts';

const handler = endpoint('Failed to echo')
  .use(jsonBody())
  .handler(async ({ json }) => ({ status: 200, body: { success: true, data: json } }));

async function parsed(body: string | undefined, isBase64Encoded = false) {
  const event = { body, isBase64Encoded } as ApiEvent & { json: never };
  const result = (await handler(event, { awsRequestId: 'r' } as Context)) as unknown;
  return JSON.parse((result as { body: string }).body);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const MISSING = ['', ' ', '\r\n', 'null', '{}', '[]', '\ufeff', '\ufeff{}'];
const NO_OBJECT = ['5', '"x"', '""', 'true', '0', '[1]', '[null]'];
const MALFORMED = ['{', '{"a":}', 'NaN', "{'a':1}", '\ufeff\ufeff{"a":1}', '\u0000'];

test('no body at all', async () => {
  expect(await parsed(undefined)).toMatchObject({ message: 'No JSON data provided' });
});

describe.each([
  ['No JSON data provided', MISSING],
  ['The request body must be a JSON object', NO_OBJECT],
  ['The request body is not valid JSON', MALFORMED],
])('%s', (message, bodies) => {
  test.each(bodies)('%j', async (body) => {
    const reply = { success: false, error: 'validation_failed', message };
    expect(await parsed(body)).toEqual(reply);
    expect(await parsed(base64(body), true)).toEqual(reply);
  });
});

describe('bytes that are not UTF-8', () => {
  // Latin-1, a lone continuation byte, an overlong form, a surrogate, a character cut short.
  test.each(['636166e9', '80', 'c0af', 'eda080', 'f09f8f'])('%s', async (bytes) => {
    const body = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from(bytes, 'hex'),
      Buffer.from('"}'),
    ]);
    expect(await parsed(body.toString('base64'), true)).toEqual({
      success: false,
      error: 'validation_failed',
      message: 'The request body is not valid UTF-8',
    });
  });

  test('are not confused with the replacement character', async () => {
    const body = '{"name":"\ufffd"}';
    expect(await parsed(base64(body), true)).toMatchObject({ data: { name: '\ufffd' } });
  });
});

describe('the size', () => {
  // Two bytes a character: bytes are counted, not characters.
  const bodyOf = (bytes: number) => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;

  test('may be 1,048,576 bytes', async () => {
    const body = bodyOf(1_048_576);
    expect(await parsed(body)).toMatchObject({ success: true });
    expect(await parsed(base64(body), true)).toMatchObject({ success: true });
  });

  test('may not be more', async () => {
    const body = bodyOf(1_048_578);
    for (const reply of [await parsed(body), await parsed(base64(body), true)]) {
      expect(reply).toEqual({
        success: false,
        error: 'payload_too_large',
        message: 'The request body must not be larger than 1048576 bytes',
      });
    }
  });
});

describe('an object', () => {
  test.each(['{"a":1}', ' {"a":[1,{"b":null}],"c":"給🏠"}\n'])('%j', async (body) => {
    const reply = { success: true, data: JSON.parse(body) };
    expect(await parsed(body)).toEqual(reply);
    expect(await parsed(base64(body), true)).toEqual(reply);
  });

  test('behind a byte order mark, which is skipped', async () => {
    const body = '\ufeff{"a":"\ufeff"}';
    const reply = { success: true, data: { a: '\ufeff' } };
    expect(await parsed(body)).toEqual(reply);
    expect(await parsed(base64(body), true)).toEqual(reply);
  });

  test('with keys that reach into prototypes: kept as properties, whole', async () => {
    const body = '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"a":1}';
    expect(Object.keys((await parsed(body)).data)).toEqual(['__proto__', 'constructor', 'a']);
  });

  test('nested deeper than the parser reads: kept whole', async () => {
    const body = `{"notes":${'['.repeat(50_000)}${']'.repeat(50_000)},"a":1}`;
    const event = { body } as ApiEvent & { json: object };
    await jsonBody().before?.({ event } as never);
    expect(Object.keys(event.json)).toEqual(['notes', 'a']);
  });
});
