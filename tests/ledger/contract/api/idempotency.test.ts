// A POST with an Idempotency-Key can be repeated: it changes nothing more, and gets the same response.
import { randomUUID } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { LUNCH } from '../../support/api/records.ts';

const api = await openApi();

function post(path: string, body: unknown, key: string) {
  return api.request('POST', path, { body, headers: { 'idempotency-key': key } });
}

describe.each([
  ['/transactions', () => ({ ...LUNCH, notes: randomUUID() })],
  ['/categories', () => ({ name: randomUUID() })],
])('POST %s', (path, newBody) => {
  it('gives a repetition the same response, even after the record was deleted', async () => {
    const body = { ...newBody(), id: 1 };
    const key = randomUUID();
    const first = await post(path, body, key);
    expect(first.status).toBe(201);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    await api.delete(`${path}/${first.body.data.id}`);
    // The repetition has the fields in another order, the key in quotes, and a slash at the end of the path.
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    const second = await post(`${path}/`, reversed, `"${key}"`);
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('refuses the key with another body, with 422', async () => {
    const key = randomUUID();
    await post(path, newBody(), key);
    expect(await post(path, newBody(), key)).toMatchObject({
      status: 422,
      body: { success: false, error: 'idempotency_key_reused' },
    });
  });

  it('forgets a request that was refused', async () => {
    const key = randomUUID();
    expect((await post(path, { amount: 'much' }, key)).status).toBe(400);
    expect((await post(path, newBody(), key)).status).toBe(201);
  });

  it('records one of ten concurrent repetitions', async () => {
    const body = newBody();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 10 }, () => post(path, body, key)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });
});

test.each(['', '""', 'x'.repeat(256), 'caf\u00e9', '"open', 'tab\there'])(
  'an Idempotency-Key %j is refused',
  async (key) => {
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters';
    expectRefusal(await post('/transactions', LUNCH, key), message);
  },
);

it('the keys of two resources are separate', async () => {
  const key = randomUUID();
  expect((await post('/transactions', LUNCH, key)).status).toBe(201);
  expect((await post('/categories', { name: randomUUID() }, key)).status).toBe(201);
});
