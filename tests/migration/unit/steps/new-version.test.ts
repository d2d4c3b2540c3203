// The new version must find most old memories first when asked for their own words. Another embedding model fails that proof,
// even with some lucky hits.
import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../../cli/seeded-random.ts';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { Point, PointId } from '../../../../lib/migration/ports/vector-store.ts';
import { proveEmbeddings } from '../../../../lib/migration/steps/new-version.ts';

type Probe = Parameters<typeof proveEmbeddings>;

/** @param findFirst chooses the id that a search finds first, among the memories of the probe */
function probe(
  findFirst: (written: readonly Point[], text: string, question: number) => PointId | undefined,
  memories = 40,
) {
  let written: readonly Point[] = [];
  let questions = 0;
  const points = Array.from({ length: memories }, (_, n) => ({
    id: asJsonText<number>(String(n)),
    vector: asJsonText<number[]>(`[${n},1]`),
    payload: asJsonText<Record<string, unknown>>(`{"user_id":"ada","data":"memory ${n}"}`),
  }));
  const vectors = {
    scroll: async () => ({ points, nextOffset: null }),
    upsert: async (_: string, borrowed: readonly Point[]) => {
      written = borrowed;
    },
  };
  const backend = {
    findBestMatch: async (_: string, text: string) => {
      questions += 1;
      const id = findFirst(written, text, questions);
      return id === undefined ? undefined : (JSON.parse(id) as string);
    },
  };
  const context = { services: { vectors }, run: { runId: 'run-a' }, renewLease: async () => {} };
  const options = { backend, known: 'memories', collection: 'memories_v3' };
  return {
    result: proveEmbeddings(context as unknown as Probe[0], options as unknown as Probe[1]),
    written: () => written,
  };
}

function findByText(written: readonly Point[], text: string): PointId | undefined {
  return written.find(({ payload }) => JSON.parse(payload).data === text)?.id;
}

describe('a probe of the embedding model', () => {
  it.each([
    [5, 'passes'],
    [3, 'passes'],
    [2, 'refuses'],
    [0, 'refuses'],
  ])('with %i of 5 memories found %s', async (found, outcome) => {
    const { result } = probe((written, text, question) =>
      findByText(written, question <= found ? text : 'memory 15'),
    );
    if (outcome === 'passes') expect(await result).toBe('proved');
    else await expect(result).rejects.toThrow('another embedding model');
  });

  it('hardly ever passes a model that finds random memories', async () => {
    const random = createSeededRandom(7);
    let passed = 0;
    for (let run = 0; run < 2_000; run += 1) {
      const { result } = probe((written) => random.pick(written).id);
      passed += await result.then(
        () => 1,
        () => 0,
      );
    }
    expect(passed).toBeLessThan(20);
  });

  it('needs 16 different memories, and a response that names the memories found', async () => {
    const enough = probe(findByText, 16);
    expect([await enough.result, enough.written().length]).toEqual(['proved', 16]);
    expect(await probe(findByText, 15).result).toBe('unverified');
    expect(await probe(() => undefined).result).toBe('unverified');
  });
});
