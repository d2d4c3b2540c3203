// The new collection: made by the new version's own first write and proved slot by slot, or made explicitly.
import { describe, expect, it } from 'vitest';
import type { Shortcomings } from '../../../../local/sandbox/memory-backend/new-version.ts';
import { SOURCE, type WorldOptions } from '../../../../local/sandbox/world.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

async function backedUp(options: Partial<WorldOptions> = {}) {
  const migration = await migrationAt('backed-up', options);
  return migration;
}

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
    const { services, target, runs, finish } = await backedUp({ hasPreview });
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

  it.each<[string, Shortcomings, Parameters<typeof named>[0]]>([
    ['no model for keywords', { noKeywordModel: true }, 'RefusedSemanticOnly'],
    ['a slot without idf', { slotWithoutIdf: true }, 'RefusedSemanticOnly'],
    ['no language model', { noLanguageModel: true }, 'RefusedNoLanguageModel'],
    [
      'another embedding model, of as many dimensions',
      { otherEmbeddings: true },
      'RefusedOtherVectors',
    ],
    ['another embedding model', { otherDimensions: 4 }, 'RefusedOtherVectors'],
    ['nothing to remember, ever', { emptyExtractions: 99 }, 'RefusedNewVersion'],
  ])('with %s is refused', async (_, shortcomings, refusal) => {
    const { invoke, runs } = await backedUp({ shortcomings });
    await expect(invoke('rebuild')).rejects.toEqual(named(refusal));
    expect((await runs.read(RUN)).phase).toBe('backed-up');
  });

  it('tries another sentence when one was found to hold nothing', async () => {
    const { finish, runs } = await backedUp({ shortcomings: { emptyExtractions: 2 } });
    await finish('rebuild');
    expect((await runs.read(RUN)).phase).toBe('rebuilt');
  });

  it('leaves the source as it was', async () => {
    const { services, finish } = await backedUp();
    const before = await services.vectors.scroll(SOURCE, { limit: 100 });
    await finish('rebuild');
    expect(await services.vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
  });
});

describe('a run that is given up', () => {
  it('takes its collections with it and frees the lock', async () => {
    const { services, finish, lock } = await backedUp();
    await finish('rebuild');
    await finish('abort');
    expect(await services.vectors.listCollections()).toEqual([SOURCE]);
    expect(await lock.activeRun()).toBeUndefined();
  });
});
