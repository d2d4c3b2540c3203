// The new collection: made by the new version's own first write and proved slot by slot, or made explicitly.
import { describe, expect, it } from 'vitest';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

describe('a rebuild', () => {
  it.each([
    [
      'by the first write of the new version',
      true,
      { made: 'by-new-version', isHybridProved: true, embeddings: 'proved' },
    ],
    [
      'explicitly, where it cannot be reached',
      false,
      { made: 'explicitly', isHybridProved: false, embeddings: 'unverified' },
    ],
  ])('makes both collections %s, and leaves them empty', async (_, hasPreview, facts) => {
    const { services, target, runs, finish } = await migrationAt('backed-up', { hasPreview });
    await finish('rebuild');
    for (const name of [target, `${target}_entities`]) {
      const info = await services.vectors.collectionInfo(name);
      expect(info?.config.params.vectors).toMatchObject({ size: 8, distance: 'Cosine' });
      expect(info?.config.params.sparse_vectors).toEqual({ bm25: { modifier: 'idf' } });
      expect(Object.keys(info?.payload_schema ?? {})).toContain('user_id');
      expect(await services.vectors.count(name)).toBe(0);
    }
    const run = await runs.read(RUN);
    expect(run.phase).toBe('rebuilt');
    expect(run.evidence['rebuild-proof']?.facts).toEqual(facts);
  });
});

describe('a run that is given up', () => {
  it('takes its collections with it and frees the lock', async () => {
    const { services, finish, lock } = await migrationAt('backed-up');
    await finish('rebuild');
    await finish('abort');
    expect(await services.vectors.listCollections()).toEqual([SOURCE]);
    expect(await lock.activeRun()).toBeUndefined();
  });
});
