// Points that mem0 does not write: without a vector, or with components of fewer bits. The vectors that the store keeps for a copy
// are compared with those that it keeps for the original.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { toJsonText } from '../../../../lib/migration/json/json-text.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import {
  computeFingerprint,
  emptyCollection,
  readEvidence,
  readFirstPoint,
} from '../../support/collections.ts';
import {
  createMigration,
  type Migration,
  type MigrationOptions,
  RUN,
} from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createPoint } from '../../support/vector-stores.ts';

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

const readFacts = async (migration: Migration) =>
  (await readEvidence(migration, 'verification-report')).facts;

describe('points without a vector', () => {
  const addWithoutVector = async ({ services }: Migration, id: number) =>
    services.vectors.upsert(
      SOURCE,
      [createPoint(id, '{"user_id":"ada","data":"Oboe"}', '{}')],
      'upsert',
    );

  it.each(oneInEvery(2, [{}, { inPlace: true }]))(
    'are migrated unchanged, and back: %j',
    async (plan) => {
      const isInPlace = 'inPlace' in plan;
      const migration = await createMigrationAt('checked', { isInPlace }, plan);
      await addWithoutVector(migration, 9_000);
      await migration.follow('backup', 'rebuild', 'copy');
      expect(await readFacts(migration)).toMatchObject({ points: 61, pending: 0 });
      await addWithoutVector(migration, 9_001);
      await migration.follow('cutover');
      expect(await readPhase(migration)).toBe('live');
      await migration.finish('rollback');
      const { vectors } = migration.services;
      const points = await vectors.retrieve(SOURCE, [toJsonText(9_000), toJsonText(9_001)], {
        vector: [''],
      });
      expect(points.map(({ vector }) => vector)).toEqual(['{}', '{}']);
      if (!isInPlace) {
        expect(await computeFingerprint(vectors, migration.target)).toEqual(
          await computeFingerprint(vectors, SOURCE),
        );
      }
    },
  );

  it('count as different from points with a vector', async () => {
    const migration = await createMigrationAt('copied');
    const { id, payload } = await readFirstPoint(migration, migration.target);
    const { vectors } = migration.services;
    await vectors.upsert(migration.target, [{ id, payload, vector: '{}' as never }], 'upsert');
    await migration.finish('copy');
    expect(await readFacts(migration)).toMatchObject({ pending: 0, replaced: 1 });
  });
});

describe.each(oneInEvery(2, ['float16', 'uint8'] as const))('vectors of %s', (datatype) => {
  // The sandbox's own vectors would round to zero as whole numbers. Twelve memories are too few to prove an embedding model.
  async function startMigration(options: MigrationOptions, plan = {}): Promise<Migration> {
    const migration = await createMigration({ datatype, ...options });
    const createVector = (n: number) =>
      JSON.stringify(
        Array.from({ length: 8 }, (_, index) => 120 * (1 + Math.sin(8 * (n * 8 + index)))),
      );
    const memories = Array.from({ length: 12 }, (_, n) =>
      createPoint(9_000 + n, `{"user_id":"ada","data":"Oboe number ${n}"}`, createVector(n)),
    );
    await emptyCollection(migration, SOURCE);
    await migration.services.vectors.upsert(SOURCE, memories, 'upsert');
    await migration.start(plan);
    await migration.follow('backup', 'rebuild', 'copy');
    return migration;
  }

  it('are copied to a collection of the same datatype, and are equal in the window', async () => {
    const migration = await startMigration({ hasPreview: false });
    expect(await readFacts(migration)).toMatchObject({ points: 12, pending: 0 });
    const info = await migration.services.vectors.readCollectionInfo(migration.target);
    expect(info?.config.params.vectors).toMatchObject({ datatype });
    await migration.follow('cutover');
    expect(await readPhase(migration)).toBe('live');
  });

  it('are refused if the new version creates its collection with another datatype', async () => {
    const migration = await createMigration({ datatype });
    const payload = { runId: RUN, sourceCollection: SOURCE, freeBytes: 1e9 };
    const { prerequisites } = await runPreflight(migration.services, payload);
    const [problem] = prerequisites.flatMap(({ problems }) => problems);
    expect(problem).toMatchObject({ why: expect.stringContaining(datatype) });
  });

  itInFull('are migrated anyway if the operator accepts that', async () => {
    const plan = { accepts: ['other-storage', 'search-parity'] };
    const migration = await startMigration({}, plan);
    expect(await readFacts(migration)).toMatchObject({ points: 12, pending: 0 });
    await migration.follow('cutover');
    expect(await readPhase(migration)).toBe('live');
  });
});

describe('a difference that no copy repairs', () => {
  it('does not reach a window: the copy is refused and names the points', async () => {
    const migration = await createMigrationAt('rebuilt');
    const { vectors } = migration.services;
    const { id } = await readFirstPoint(migration, SOURCE);
    const upsert: VectorStore['upsert'] = async (name, points, ...rest) =>
      await vectors.upsert(
        name,
        name === SOURCE ? points : points.filter((point) => point.id !== id),
        ...rest,
      );
    const attempt = migration.finish('copy', {}, { vectors: { upsert } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedByService', 'missing: 1'));
    expect(await readPhase(migration)).toBe('rebuilt');
    await migration.follow('copy', 'cutover');
    expect(await readPhase(migration)).toBe('live');
  });

  it("is distinguished from users' writes, which the window copies", async () => {
    const migration = await createMigrationAt('copied');
    const { vectors } = migration.services;
    const write = async (text: string) =>
      await vectors.upsert(
        SOURCE,
        [createPoint(9_000, `{"user_id":"ada","data":"${text}"}`, VECTOR)],
        'upsert',
      );
    let reads = 0;
    const retrieve: VectorStore['retrieve'] = async (...args) => {
      reads += 1;
      await write(`Oboe ${reads}`);
      return await vectors.retrieve(...args);
    };
    await write('Oboe');
    await migration.finish('copy', {}, { vectors: { retrieve } });
    expect(reads).toBeGreaterThan(2);
    await migration.follow('cutover');
    expect(await readPhase(migration)).toBe('live');
  });
});

const VECTOR = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';
