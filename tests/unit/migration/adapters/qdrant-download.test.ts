// A download gives up on a silent store, and has patience with whoever takes the bytes.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';

const SILENCE_MS = 40;

/** A Qdrant that sends these chunks, and then nothing, or the end. */
function qdrantSending(chunks: readonly string[], then: 'silence' | 'end') {
  return createQdrant({
    url: 'http://qdrant.test',
    timeoutMs: SILENCE_MS,
    fetch: async (_, init) => {
      const body = new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
          if (then === 'end') controller.close();
          const { signal } = init ?? {};
          signal?.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
      return new Response(body);
    },
  });
}

test('a store that falls silent is unavailable', async () => {
  const store = qdrantSending(['some'], 'silence');
  const { bytes } = await store.downloadSnapshot('memories', 'a.snapshot');
  const unavailable = { name: 'VectorStoreUnavailableError' };
  await expect(Array.fromAsync(bytes)).rejects.toMatchObject(unavailable);
});

test('a store that knows no ranges sends all of it, and what is there already is left out', async () => {
  const store = qdrantSending(['one', 'two', 'three'], 'end');
  const part = await store.downloadSnapshot('memories', 'a.snapshot', 4);
  expect(part.totalBytes).toBeUndefined();
  expect(Buffer.concat(await Array.fromAsync(part.bytes)).toString()).toBe('wothree');
});

test('a slow taker gets all of it', async () => {
  const store = qdrantSending(['one', 'two', 'three'], 'end');
  const { bytes } = await store.downloadSnapshot('memories', 'a.snapshot');
  const taken: string[] = [];
  for await (const chunk of bytes) {
    await pause(2 * SILENCE_MS);
    taken.push(Buffer.from(chunk).toString());
  }
  expect(taken).toEqual(['one', 'two', 'three']);
});
