// Service document, "For POST and PUT, a missing or empty JSON body gives 400", and the rulings on bodies. What counts as
// missing or malformed is tested on the parser.
import { beforeAll, describe, expect, test } from 'vitest';
import { expectFailure, expectFaults, expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openApi();

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

describe.each(ROUTES)('%s', (route) => {
  test.each([
    [undefined, 'No JSON data provided'],
    ['', 'No JSON data provided'],
    ['\r\n\t ', 'No JSON data provided'],
    ['{}', 'No JSON data provided'],
    ['{', 'The request body is not valid JSON'],
    ['name=x', 'The request body is not valid JSON'],
    ['[1]', 'The request body must be a JSON object'],
    ['5', 'The request body must be a JSON object'],
  ])('%j: %s', async (raw, message) => {
    for (const type of [JSON_TYPE, BINARY_TYPE]) {
      expectRefusal(await send(route, raw, type), message);
    }
  });

  test('a compressed body, whatever its type', async () => {
    const message = 'The request body must not be encoded: gzip';
    for (const type of [JSON_TYPE, BINARY_TYPE]) {
      const reply = await send(route, '{"name":"x"}', { ...type, 'content-encoding': 'gzip' });
      expectFailure(reply, 415, 'unsupported_media_type', message);
    }
  });
});

test.each([
  'application/json; charset=utf-8',
  'text/html; charset=iso-8859-1',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/vnd.api+json',
  undefined,
])('a body is JSON whatever its label: %s', async (type) => {
  const name = uniqueName('Überweisung 給料 🏠');
  const escaped = name.replace('Ü', '\\u00dc');
  // White space around the object, escapes in it.
  const rawBody = `\n {"name" : "${escaped}"}\t`;
  const headers = type === undefined ? {} : { 'content-type': type };
  const { status, body } = await send('POST /categories', rawBody, headers);
  expect([status, body.data?.name]).toEqual([201, name]);
});

test('base64 that is no UTF-8 is still an answer in the envelope', async () => {
  const { status, body } = await send('POST /categories', '\u0000\ufffd{', BINARY_TYPE);
  expect([status, body.error]).toEqual([400, 'validation_failed']);
});

const nested = (depth: number) => `{"notes":${'['.repeat(depth)}${']'.repeat(depth)}}`;

test('a nested value is a bad value like any other', async () => {
  expectFaults(await send('PUT /transactions/{id}', nested(500)), ['notes']);
});

test.each(['', 'with an Idempotency-Key'])('a deeper one is refused %s', async (withKey) => {
  const headers = { ...JSON_TYPE, ...(withKey && { 'idempotency-key': uniqueName() }) };
  const message = 'The request body is nested more than 512 levels deep';
  for (const raw of [nested(3_000), '['.repeat(20_000)]) {
    expectRefusal(await send('POST /transactions', raw, headers), message);
  }
  const { status, body } = await send('POST /transactions', nested(511), headers);
  const names = ['description', 'amount', 'type', 'notes'];
  expect([status, Object.keys(body.details ?? {})]).toEqual([400, names]);
});
