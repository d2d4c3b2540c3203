// A switch must wait until the store has indexed the new collection.
import { describe, expect, it } from 'vitest';
import { waitUntilIndexed } from '../../../lib/migration/configuration.ts';
import type {
  CollectionInfo,
  CollectionUpdate,
} from '../../../lib/migration/ports/vector-store.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { failureNamed } from '../support/refused.ts';
import { unwrapPaused } from '../support/unwrap-paused.ts';

function createContext(changes: Partial<CollectionInfo>, run: Partial<Run> = {}) {
  const config = { optimizer_config: {} };
  const counts = { points_count: 60, indexed_vectors_count: 7, segments_count: 3 };
  const info = { optimizer_status: 'ok', ...counts, config, ...changes };
  const updates: CollectionUpdate[] = [];
  const notes: Partial<Run>[] = [];
  const vectors = {
    readCollectionInfo: async () => info as CollectionInfo,
    updateCollection: async (_: string, update: CollectionUpdate) => void updates.push(update),
  };
  const services = { vectors, clock: () => new Date(NOW) } as unknown as Services;
  const updateRun = async (noted: Partial<Run>) => void notes.push(noted);
  const context = { services, run: run as Run, renewLease: async () => {}, updateRun };
  return { updates, notes, wait: waitUntilIndexed(context, 'memories_v3').catch(unwrapPaused) };
}

const NOW = Date.parse('2026-11-25T12:00:00Z');
const MINUTE_MS = 60_000;

const noteProgress = (minutesAgo: number, done = 7) => ({
  optimizer: {
    collection: 'memories_v3',
    done,
    segments: 3,
    since: NOW - minutesAgo * MINUTE_MS,
    began: { done: 1, at: NOW - 12 * MINUTE_MS },
  },
});

describe('the wait until a collection is indexed', () => {
  it('ends when the store reports green', async () => {
    expect(await createContext({ status: 'green' }).wait).toBeUndefined();
  });

  it.each(['yellow', 'grey'] as const)(
    'names the index while the store reports %s',
    async (status) => {
      const { wait, updates } = createContext({ status });
      const waitsFor = 'the index of memories_v3: 7 vectors of 60 points';
      expect(await wait).toMatchObject({ waitsFor });
      expect(updates).toHaveLength(status === 'grey' ? 1 : 0);
    },
  );

  it('is skipped if the optimizer is switched off, because it would never end', async () => {
    const config = {
      optimizer_config: { max_optimization_threads: 0 },
    } as CollectionInfo['config'];
    expect(await createContext({ status: 'grey', config }).wait).toBeUndefined();
  });

  it('is estimated from its progress', async () => {
    const { wait, notes } = createContext({ status: 'yellow' }, noteProgress(11, 5));
    // Six of the 60 points were indexed in twelve minutes, and 53 are left.
    expect(await wait).toMatchObject({ leftSeconds: (53 / 6) * 12 * 60 });
    expect(notes).toEqual([{ optimizer: { ...noteProgress(0).optimizer } }]);
  });

  it('fails without progress, and reports the last figures', async () => {
    const { wait, notes } = createContext({ status: 'yellow' }, noteProgress(10));
    const why = /is yellow, with 7 vectors of 60 points and 3 segments, .* for 10 minutes/;
    await expect(wait).rejects.toEqual(failureNamed('RefusedByService', why));
    expect(notes).toEqual([{ optimizer: undefined }]);
    expect(await createContext({ status: 'yellow' }, noteProgress(9)).wait).toMatchObject({
      waitSeconds: 1,
    });
  });

  it.each([
    ['is red', { status: 'red' }, 'memories_v3: The collection is red'],
    [
      'has an optimizer error',
      { status: 'yellow', optimizer_status: { error: 'No space left on device' } },
      'No space left on device',
    ],
  ] as const)('fails if the collection %s', async (_, changes, why) => {
    await expect(createContext(changes).wait).rejects.toEqual(
      failureNamed('RefusedByService', why),
    );
  });
});
