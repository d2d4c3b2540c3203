// A rebuild is refused by each shortcoming of the new version, and leaves the source alone.
import { describe, expect, it } from 'vitest';
import type { Shortcomings } from '../../../../sandbox/memory-backend/new-version.ts';
import { standingOf } from '../../../support/migration/holdings.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

describe('a rebuild', () => {
  it.each<[string, Shortcomings, string]>([
    ['no model for keywords', { noKeywordModel: true }, 'fastembed'],
    ['a slot without idf', { slotWithoutIdf: true }, 'fastembed'],
    ['no language model', { noLanguageModel: true }, 'spaCy'],
    [
      'another embedding model, of as many dimensions',
      { otherEmbeddings: true },
      'another embedding model',
    ],
    ['another embedding model', { otherDimensions: 4 }, 'has 4 Cosine where memories has'],
    ['nothing to remember, ever', { emptyExtractions: 99 }, 'there is no memory in'],
  ])('with %s is refused', async (_, shortcomings, why) => {
    const migration = await migrationAt('backed-up', { shortcomings });
    const before = await standingOf(migration);
    await expect(migration.finish('rebuild')).rejects.toEqual(named('RefusedNewVersion', why));
    expect(await standingOf(migration)).toEqual(before);
  });

  it('tries another sentence when one was found to hold nothing', async () => {
    const { finish, runs } = await migrationAt('backed-up', {
      shortcomings: { emptyExtractions: 2 },
    });
    await finish('rebuild');
    expect((await runs.read(RUN)).phase).toBe('rebuilt');
  });
});
