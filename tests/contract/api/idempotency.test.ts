// POST with an Idempotency-Key: repeated, it changes nothing and answers the same.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../support/api/open-api.ts';

const api = await openApi();
const LUNCH = { description: 'Lunch', amount: 12.5, type: 'expense' };

function post(path: string, body: unknown, key: string) {
  return api.request('POST', path, { body, headers: { 'idempotency-key': key } });
}

describe.each([
  ['/transactions', () => LUNCH],
  ['/categories', () => ({ name: randomUUID() })],
])('POST %s', (path, newBody) => {
  it('answers a repetition with the first status and body', async () => {
    const body = newBody();
    const key = randomUUID();
    const first = await post(path, body, key);
    const second = await post(path, body, key);
    expect(first.status).toBe(201);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('answers a repetition the same after the record was deleted', async () => {
    const body = newBody();
    const key = randomUUID();
    const first = await post(path, body, key);
    await api.delete(`${path}/${first.body.data.id}`);
    expect((await post(path, body, key)).text).toBe(first.text);
  });

  it('takes the members of the body in any order, and the quoted form of the key', async () => {
    const body = { ...newBody(), id: 1 };
    const key = randomUUID();
    const first = await post(path, body, key);
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    expect((await post(path, reversed, `"${key}"`)).text).toBe(first.text);
  });

  it('refuses the key for another body with 422, and records nothing', async () => {
    const key = randomUUID();
    await post(path, newBody(), key);
    const other = path === '/categories' ? newBody() : { ...LUNCH, amount: 13 };
    expect(await post(path, other, key)).toMatchObject({
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

  it.each(['', '""', 'x'.repeat(256), 'caf\u00e9', '"open', 'tab\there'])(
    'refuses the key %j',
    async (key) => {
      expect(await post(path, newBody(), key)).toMatchObject({
        status: 400,
        body: { error: 'validation_failed' },
      });
    },
  );
});

it('keeps the keys of two resources apart', async () => {
  const key = randomUUID();
  expect((await post('/transactions', LUNCH, key)).status).toBe(201);
  expect((await post('/categories', { name: randomUUID() }, key)).status).toBe(201);
});

it('treats both spellings of a path as one', async () => {
  const key = randomUUID();
  const first = await post('/transactions', LUNCH, key);
  expect((await post('/transactions/', LUNCH, key)).text).toBe(first.text);
});
