// A memory service that users write to all the time is migrated in place, while accidents happen. No acknowledged write is
// lost, doubled or stale; in the end every memory has the keywords of its text, and no others.
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toJsonText } from '../../../lib/migration/json/json-text.ts';
import { findKeywordText } from '../../../lib/migration/json/memory-payload.ts';
import { findVector, KEYWORD_MODEL } from '../../../lib/migration/points.ts';
import type { PointId, ScrolledPoint } from '../../../lib/migration/ports/vector-store.ts';
import { readPages } from '../../../lib/migration/scan.ts';
import { type BusyService, play, type Scenario } from '../support/busy-service.ts';
import { hasMem0, hasQdrantProgram, REAL_QDRANT } from '../support/real-services.ts';

/** About as long as the run or the rollback takes */
const COMMAND_MS = 12_000;

const SCENARIOS: readonly Scenario[] = [
  {
    title: 'forward and back five times, while a program changes texts without their vectors',
    play: async (service) => {
      const { migrate, rollBack, expectUsersWrite } = service;
      const careless = await startCarelessProgram(service);
      await migrate();
      for (let turn = 1; turn <= 5; turn += 1) {
        await expectUsersWrite();
        await rollBack();
        await expectUsersWrite();
        await migrate();
      }
      expect(await careless.stop()).toBeGreaterThan(0);
    },
  },
  {
    title: 'forward, back and forward, with the commands and Qdrant killed at random moments',
    harmsQdrant: true,
    breaksStore: true,
    play: async ({ repeatUntilPhase, rollbackArgs, runArgs, server, expectUsersWrite }) => {
      for (const [args, phase] of [
        [runArgs, 'live'],
        [rollbackArgs(), 'copied'],
        [runArgs, 'live'],
      ] as const) {
        const delays = Array.from({ length: 4 }, () => randomInt(COMMAND_MS));
        const [crash = 0, ...kills] = delays;
        console.info(`${args[0]}: Qdrant killed after ${crash} ms, the command after ${kills} ms`);
        const crashed = pause(crash).then(() => server?.killAndRestart());
        await repeatUntilPhase(args, phase, kills);
        await crashed;
        await expectUsersWrite();
      }
    },
  },
];

describe.skipIf(!REAL_QDRANT || !hasMem0).concurrent('a busy service, in place', () => {
  for (const scenario of SCENARIOS) {
    const { harmsQdrant = false, title } = scenario;
    it.skipIf(harmsQdrant && !hasQdrantProgram)(title, async () => {
      const afterwards = async (service: BusyService) => {
        expect(await service.readCollection()).toBe(service.source);
        expect(await findWrongKeywords(service)).toEqual([]);
      };
      await play({ ...scenario, isInPlace: true, writesPerSecond: 10, afterwards });
    });
  }
});

/** A user whose memories the comparison ignores */
const CARELESS = 'careless';

/** Starts a program that changes the texts of some points, but not their vectors, while the old version takes writes. */
async function startCarelessProgram({ source, store, qdrant, users, readVersion }: BusyService) {
  const ids = [1, 2, 3, 4, 5];
  const points = ids.map((id) => ({
    id: toJsonText(id) as PointId,
    vector: toJsonText(Array.from({ length: 32 }, (_, n) => n + id)),
    payload: toJsonText({ user_id: CARELESS, data: `Number ${id} plays the cello` }),
  }));
  await store.upsert(source, points, 'upsert');
  let changes = 0;
  let isStopped = false;

  const writing = (async () => {
    while (!isStopped) {
      // Waits for a user's write, so that the program does not write while writes are frozen.
      await users.awaitWrites(1);
      if (!(await readVersion().catch(() => '')).startsWith('1.')) continue;
      await fetch(`${qdrant.url}/collections/${source}/points/payload?wait=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ payload: { data: `Oboe ${changes}` }, points: ids }),
      });
      changes += 1;
    }
  })();
  return {
    async stop(): Promise<number> {
      isStopped = true;
      await writing;
      return changes;
    },
  };
}

/** Finds points whose keywords differ from those that the store computes for the text that the new version indexes. */
async function findWrongKeywords({ source, store }: BusyService): Promise<string[]> {
  const expectedName = `${source}_expected`;
  await store.createCollection(expectedName, {
    vectors: { size: 1, distance: 'Cosine' },
    sparse_vectors: { bm25: { modifier: 'idf' } },
  });
  const wrong: string[] = [];
  for await (const { points } of readPages({ store, collection: source }, { limit: 100 })) {
    const texts = points.map(({ id, payload }) => {
      const text: string = JSON.parse(findKeywordText(payload) ?? '""');
      const vector = toJsonText({ '': [1], bm25: { text, model: KEYWORD_MODEL } });
      return { id, vector, payload };
    });
    await store.upsert(expectedName, texts, 'upsert');
    const ids = points.map(({ id }) => id);
    const expected = new Map(
      (await store.retrieve(expectedName, ids)).map((point) => [point.id, readTerms(point)]),
    );
    wrong.push(
      ...points.flatMap((point) => (readTerms(point) === expected.get(point.id) ? [] : [point.id])),
    );
  }
  return wrong;
}

function readTerms({ vector }: ScrolledPoint): string {
  const keywords = vector && findVector(vector, 'bm25');
  return keywords ? String(JSON.parse(keywords).indices.toSorted()) : 'none';
}
