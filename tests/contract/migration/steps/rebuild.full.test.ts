// A rebuild is refused by each shortcoming of the new version, and leaves the source alone.
import { describe, expect, it } from 'vitest';
import type { RefusalName } from '../../../../lib/migration/refusals.ts';
import type { Shortcomings } from '../../../../sandbox/memory-backend/new-version.ts';
import { standingOf } from '../../../support/migration/holdings.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

describe('a rebuild', () => {
  it.each<[string, Shortcomings, RefusalName, RegExp?]>([
    ['no model for keywords', { noKeywordModel: true }, 'RefusedMissingModel', /fastembed/],
    ['a slot without idf', { slotWithoutIdf: true }, 'RefusedMissingModel', /fastembed/],
    ['no language model', { noLanguageModel: true }, 'RefusedMissingModel', /spaCy/],
    [
      'another embedding model, of as many dimensions',
      { otherEmbeddings: true },
      'RefusedOtherVectors',
    ],
    ['another embedding model', { otherDimensions: 4 }, 'RefusedOtherVectors'],
    ['nothing to remember, ever', { emptyExtractions: 99 }, 'RefusedNewVersion'],
  ])('with %s is refused', async (_, shortcomings, name, why = /./) => {
    const migration = await migrationAt('backed-up', { shortcomings });
    const before = await standingOf(migration);
    await expect(migration.finish('rebuild')).rejects.toMatchObject({
      name,
      message: expect.stringMatching(why),
    });
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
