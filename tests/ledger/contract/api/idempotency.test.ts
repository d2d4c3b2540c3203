// A POST with an Idempotency-Key can be repeated: the repetition changes nothing, and gets the same response.
import { randomUUID } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { expectRefusal } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { LUNCH } from '../../support/api/records.ts';

const api = await openTestApi();

function postWithKey(path: string, body: unknown, key: string) {
  return api.request('POST', path, { body, headers: { 'idempotency-key': key } });
}

describe.each([
  ['/transactions', () => ({ ...LUNCH, notes: randomUUID() })],
  ['/categories', () => ({ name: randomUUID() })],
])('POST %s', (path, newBody) => {
  it('gives a repetition the same response, even after the record was deleted', async () => {
    const body = { ...newBody(), id: 1 };
    const key = randomUUID();
    const first = await postWithKey(path, body, key);
    expect(first.status).toBe(201);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    await api.delete(`${path}/${first.body.data.id}`);
    // The repetition has the fields in another order, the key in quotes, and a trailing slash.
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    const second = await postWithKey(`${path}/`, reversed, `"${key}"`);
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('responds with 422 if the key is used with another body', async () => {
    const key = randomUUID();
    await postWithKey(path, newBody(), key);
    expect(await postWithKey(path, newBody(), key)).toMatchObject({
      status: 422,
      body: { success: false, error: 'idempotency_key_reused' },
    });
  });

  it('does not remember a refused request', async () => {
    const key = randomUUID();
    expect((await postWithKey(path, { amount: 'much' }, key)).status).toBe(400);
    expect((await postWithKey(path, newBody(), key)).status).toBe(201);
  });

  it('applies only one of ten concurrent repetitions', async () => {
    const body = newBody();
    const key = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => postWithKey(path, body, key)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  });
});

test.each(['', '""', 'x'.repeat(256), 'caf\u00e9', '"open', 'tab\there'])(
  'an Idempotency-Key %j is refused',
  async (key) => {
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters';
    expectRefusal(await postWithKey('/transactions', LUNCH, key), message);
  },
);

it('the same key can be used for two resources', async () => {
  const key = randomUUID();
  expect((await postWithKey('/transactions', LUNCH, key)).status).toBe(201);
  expect((await postWithKey('/categories', { name: randomUUID() }, key)).status).toBe(201);
});
