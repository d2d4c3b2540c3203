// Fears of a search that is worse than it looks: no keywords, other embeddings, users nobody finds.
import { describe, expect, it } from 'vitest';
import { hasKeywords, unnamedVectorOf } from '../../../../lib/migration/points.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { evidenceOf, firstPoint, standingOf } from '../../../support/migration/holdings.ts';
import { createMigration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { point } from '../../../support/vector-stores.ts';

describe('Fear 2: old memories have no keyword vector though the slot exists', () => {
  it('one copied point without it is found and filled by the next copy', async () => {
    const migration = await migrationAt('copied');
    const { id, payload, vector } = await firstPoint(migration, migration.target);
    const dense = vector && unnamedVectorOf(vector);
    if (!dense) throw new Error('No vector');
    const stripped = { id, payload, vector: point(0, '{}', dense).vector };
    await migration.services.vectors.upsert(migration.target, [stripped], 'upsert');
    await migration.finish('copy');
    const { facts } = await evidenceOf(migration, 'verification-report');
    expect(facts).toMatchObject({ replaced: 1, pending: 0 });
    const filled = await firstPoint(migration, migration.target);
    expect(filled.vector && hasKeywords(filled.vector)).toBe(true);
  });

  it('a store that cannot make them is refused before a point is copied', async () => {
    const migration = await migrationAt('rebuilt');
    const before = await standingOf(migration);
    const encodesKeywords = async () => false;
    const attempt = migration.finish('copy', {}, { vectors: { encodesKeywords } });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    expect(await standingOf(migration)).toEqual(before);
    expect(await migration.services.vectors.count(migration.target)).toBe(0);
  });
});

describe('Fear 11: a wrong embedding model, dimension or distance in the new configuration', () => {
  it('a backend that does not say what it finds is said to be unproved', async () => {
    const migration = await migrationAt('backed-up');
    const bestMatch = async () => undefined;
    await migration.finish('rebuild', {}, { preview: { bestMatch } });
    const { facts } = (await migration.runs.read(RUN)).evidence['rebuild-proof'] ?? {};
    expect(facts).toMatchObject({ embeddings: 'unverified' });
  });

  it('another distance than cosine is refused', async () => {
    const migration = await createMigration({ memories: 0 });
    const { vectors } = migration.services;
    await vectors.deleteCollection(SOURCE);
    await vectors.createCollection(SOURCE, { vectors: { size: 8, distance: 'Dot' } });
    await expect(migration.start()).rejects.toEqual(named('RefusedPrerequisites'));
  });
});
