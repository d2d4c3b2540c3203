// A body reaches the functions byte for byte. The tests send bytes, because a text client cannot send invalid UTF-8.
import { gzipSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';

const key: string | undefined = inject('apiKey');
const authorization: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};

const post = (body: Uint8Array<ArrayBuffer>, type: string, headers = {}) =>
  fetch(`${inject('apiUrl')}/categories`, {
    method: 'POST',
    headers: { 'content-type': type, ...authorization, ...headers },
    body,
  });

test.each(['application/json', 'text/plain', 'application/octet-stream'])(
  'a body labelled %s that is not UTF-8 is refused',
  async (type) => {
    const response = await post(Buffer.from('{"name":"caf\xe9"}', 'latin1'), type);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'validation_failed' });
  },
);

test('a gzip body is refused with 415', async () => {
  const body = gzipSync('{"name":"compressed"}');
  const response = await post(body, 'application/json', { 'content-encoding': 'gzip' });
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({ error: 'unsupported_media_type' });
});
