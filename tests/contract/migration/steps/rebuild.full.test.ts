// A rebuild is refused by each shortcoming of the new version, and leaves the source alone.
import { describe, expect, it } from 'vitest';
import type { Shortcomings } from '../../../../local/sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { standingOf } from '../../../support/migration/holdings.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

describe('a rebuild', () => {
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
    const migration = await migrationAt('backed-up', { shortcomings });
    const before = await standingOf(migration);
    await expect(migration.finish('rebuild')).rejects.toEqual(named(refusal));
    expect(await standingOf(migration)).toEqual(before);
  });

  it('tries another sentence when one was found to hold nothing', async () => {
    const { finish, runs } = await migrationAt('backed-up', {
      shortcomings: { emptyExtractions: 2 },
    });
    await finish('rebuild');
    expect((await runs.read(RUN)).phase).toBe('rebuilt');
  });

  it('leaves the source as it was', async () => {
    const { services, finish } = await migrationAt('backed-up');
    const before = await services.vectors.scroll(SOURCE, { limit: 100 });
    await finish('rebuild');
    expect(await services.vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
  });
});
