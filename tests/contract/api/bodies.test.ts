// Service document, "For POST and PUT, a missing or empty JSON body gives 400", and the rulings on bodies.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFailure, expectFaults, expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

let pathOf: Record<string, string>;

beforeAll(async () => {
  pathOf = {
    'POST /transactions': '/transactions',
    'PUT /transactions/{id}': `/transactions/${(await givenTransaction(api)).id}`,
    'POST /categories': '/categories',
    'PUT /categories/{id}': `/categories/${(await givenCategory(api)).id}`,
  };
});

const ROUTES = [
  'POST /transactions',
  'PUT /transactions/{id}',
  'POST /categories',
  'PUT /categories/{id}',
];

const JSON_TYPE = { 'content-type': 'application/json' };
/** API Gateway encodes a body of this type in base64. */
const BINARY_TYPE = { 'content-type': 'application/octet-stream' };

function send(route: string, rawBody?: string, headers: Record<string, string> = JSON_TYPE) {
  const [method = ''] = route.split(' ');
  const request = rawBody === undefined ? {} : { rawBody, headers };
  return api.request(method, pathOf[route] ?? '', request);
}

describe.each(ROUTES)('%s: a missing or empty body', (route) => {
  test('no body at all', async () => {
    expectRefusal(await send(route), 'No JSON data provided');
  });

  test.each(['', ' ', '\r\n\t ', 'null', ' null ', '{}', ' { } ', '[]', '[ ]'])(
    '%j',
    async (raw) => {
      expectRefusal(await send(route, raw), 'No JSON data provided');
      expectRefusal(await send(route, raw, BINARY_TYPE), 'No JSON data provided');
    },
  );
});

describe.each(ROUTES)('%s: a body that is not JSON', (route) => {
  test.each([
    '{',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x",}',
    'name=x',
    '<name/>',
    'undefined',
    'NaN',
    '{"name":"x"}{}',
    '{"name":"\u0001"}',
    '\\u0000',
  ])('%.20j', async (raw) => {
    expectRefusal(await send(route, raw), 'The request body is not valid JSON');
    expectRefusal(await send(route, raw, BINARY_TYPE), 'The request body is not valid JSON');
  });
});

const NO_OBJECTS = [
  '5',
  '-0.5',
  '"x"',
  '""',
  'true',
  'false',
  '0',
  '[1]',
  '[{"name":"x"}]',
  '[null]',
];

describe.each(ROUTES)('%s: JSON that is not an object', (route) => {
  test.each(NO_OBJECTS)('%s', async (raw) => {
    const message = 'The request body must be a JSON object';
    expectRefusal(await send(route, raw), message);
    expectRefusal(await send(route, raw, BINARY_TYPE), message);
  });
});

describe('Rulings: a body is JSON whatever its label', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'text/plain',
    'text/html; charset=iso-8859-1',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/vnd.api+json',
    'image/png',
  ])('%s', async (type) => {
    const name = uniqueName('Überweisung 給料 🏠');
    const rawBody = JSON.stringify({ name });
    const { status, body } = await send('POST /categories', rawBody, { 'content-type': type });
    expect([status, body.data?.name]).toEqual([201, name]);
  });

  test('none', async () => {
    const name = uniqueName();
    const { status, body } = await send('POST /categories', JSON.stringify({ name }), {});
    expect([status, body.data?.name]).toEqual([201, name]);
  });

  test('base64 that is no UTF-8 is still an answer in the envelope', async () => {
    const { status, body } = await send('POST /categories', '\u0000\ufffd{', BINARY_TYPE);
    expect([status, body.error]).toEqual([400, 'validation_failed']);
  });
});

describe('Rulings: what JSON allows', () => {
  test('white space around the object, and escapes in it', async () => {
    const name = uniqueName();
    const escaped = name.replace('C', '\\u0043');
    const { status, body } = await send('POST /categories', `\n {"name" : "${escaped}"}\t`);
    expect([status, body.data?.name]).toEqual([201, name]);
  });

  test('of a name given twice the last counts', async () => {
    const name = uniqueName();
    const { body } = await send('POST /categories', `{"name":5,"name":"${name}"}`);
    expect(body.data?.name).toBe(name);
  });

  const nested = (depth: number) => `{"notes":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  test('a nested value is a bad value like any other', async () => {
    expectFaults(await send('PUT /transactions/{id}', nested(500)), ['notes']);
  });

  test.each(['', 'with an Idempotency-Key'])('a deeper one is refused %s', async (withKey) => {
    const headers = { ...JSON_TYPE, ...(withKey && { 'idempotency-key': uniqueName() }) };
    const message = 'The request body is nested more than 512 levels deep';
    for (const raw of [nested(3_000), nested(50_000), '['.repeat(20_000)]) {
      expectRefusal(await send('POST /transactions', raw, headers), message);
    }
    const { status, body } = await send('POST /transactions', nested(511), headers);
    expect([status, Object.keys(body.details ?? {})]).toEqual([
      400,
      ['description', 'amount', 'type', 'notes'],
    ]);
  });
});

describe.each(ROUTES)('%s: a compressed body', (route) => {
  test('415, whatever its type', async () => {
    const message = 'The request body must not be encoded: gzip';
    for (const type of [JSON_TYPE, BINARY_TYPE]) {
      const reply = await send(route, '{"name":"x"}', { ...type, 'content-encoding': 'gzip' });
      expectFailure(reply, 415, 'unsupported_media_type', message);
    }
  });
});
