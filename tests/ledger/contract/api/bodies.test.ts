// Bodies of POST and PUT, as docs/ledger/api.md describes them: a missing or empty body gets a 400. The parser's unit test
// covers which bodies are missing or malformed.
import { describe, expect, test } from 'vitest';
import { expectRefusal } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openTestApi();

describe.each([
  ['POST', '/transactions', async () => ''],
  ['PUT', '/transactions', async () => `/${(await givenTransaction(api)).id}`],
  ['POST', '/categories', async () => ''],
  ['PUT', '/categories', async () => `/${(await givenCategory(api)).id}`],
])('%s %s', (method, resource, id) => {
  test.each([
    [{}, 'No JSON data provided'],
    [{ rawBody: '{}' }, 'No JSON data provided'],
    [{ rawBody: 'name=x' }, 'The request body is not valid JSON'],
    [{ rawBody: '[1]' }, 'The request body must be a JSON object'],
  ])('refuses %j with "%s"', async (request, message) => {
    expectRefusal(await api.request(method, resource + (await id()), request), message);
  });
});

// API Gateway encodes a body of most of these types in base64.
test.each([
  'application/json; charset=utf-8',
  'text/html; charset=iso-8859-1',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/vnd.api+json',
  undefined,
])('a body is parsed as JSON whatever its content type: %s', async (type) => {
  const name = uniqueName('Überweisung 給料 🏠');
  const escaped = name.replace('Ü', '\\u00dc');
  // The body has white space around the object, and escapes inside.
  const rawBody = `\n {"name" : "${escaped}"}\t`;
  const headers = type === undefined ? {} : { 'content-type': type };
  const { status, body } = await api.request('POST', '/categories', { rawBody, headers });
  expect([status, body.data?.name]).toEqual([201, name]);
});

test('a body that is nested too deeply is refused, even with an Idempotency-Key', async () => {
  const rawBody = `{"notes":${'['.repeat(3_000)}${']'.repeat(3_000)}}`;
  for (const headers of [{}, { 'idempotency-key': uniqueName() }]) {
    const response = await api.request('POST', '/transactions', { rawBody, headers });
    expectRefusal(response, 'The request body is nested more than 512 levels deep');
  }
});
