// What the preflight proves of the memory backend's key, by reading alone, and what it cannot.
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const TEST_USER = '__migration_test_run-a';

async function started(): Promise<Migration> {
  const migration = await migrationAt('started');
  return migration;
}

function grantTo({ backend, environment }: Migration, userId: string): void {
  backend.grant(String(environment.MEMORY_BACKEND_KEY), userId);
}

async function reportOf({ services, runs }: Migration): Promise<unknown> {
  const reference = (await runs.read(RUN)).evidence['preflight-report'];
  if (!reference) throw new Error('No report');
  return await readReport(services, reference);
}

describe('the key of the memory backend', () => {
  it('of another user is refused by the preflight, which names the user it has to map to', async () => {
    const migration = await started();
    grantTo(migration, 'user-1');
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(TEST_USER);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  it('is proved without a trace: nothing is written or made', async () => {
    const migration = await started();
    const { vectors } = migration.services;
    const before = await vectors.scroll(SOURCE, { limit: 100 });
    await migration.finish('preflight');
    expect(await reportOf(migration)).toMatchObject({ backend: { keyOfTestUser: 'proved' } });
    expect(migration.backend.writes()).toBe(0);
    expect(await vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });

  it.each(['search', 'memoryCount'] as const)(
    'is that of another user where %s, asked for the test user, finds memories',
    async (endpoint) => {
      const migration = await started();
      const backend = { ...migration.services.backend, [endpoint]: async () => 3 };
      const attempt = migration.finish('preflight', {}, { ...migration.services, backend });
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
      await expect(attempt).rejects.toThrow(TEST_USER);
    },
  );

  it('is said not to be proved where the backend answers for everybody', async () => {
    const migration = await started();
    const backend = { ...migration.services.backend, search: async () => 0 };
    await migration.finish('preflight', {}, { ...migration.services, backend });
    expect(await reportOf(migration)).toMatchObject({ backend: { keyOfTestUser: 'unverified' } });
  });

  it('that nobody knows is refused', async () => {
    const migration = await started();
    const memoryCount = async () => {
      throw new Refusal('RefusedCredentials', 'It answered 401.');
    };
    const backend = { ...migration.services.backend, memoryCount };
    const attempt = migration.finish('preflight', {}, { ...migration.services, backend });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow('It answered 401.');
  });

  it('that may count for its own user only makes no second witness, and stops no backup', async () => {
    const migration = await started();
    await migration.finish('preflight');
    let asked = 0;
    const memoryCount = async (userId: string) => {
      if (userId === TEST_USER) return 0;
      asked += 1;
      throw new Refusal('RefusedKeyOfOtherUser', 'It answered 403.');
    };
    const backend = { ...migration.services.backend, memoryCount };
    await migration.finish('backup', {}, { ...migration.services, backend });
    const { facts } = (await migration.runs.read(RUN)).evidence['backup-manifest'] ?? {};
    expect(facts).toMatchObject({ witness: 'unavailable', disagreements: 0 });
    expect(asked).toBe(1);
  });
});

describe('the new version, where it can be reached', () => {
  it('is asked for its health', async () => {
    const migration = await started();
    const { preview } = migration.services;
    if (!preview) throw new Error('No preview');
    const health = async () => {
      throw new Refusal('RefusedBackendAnswer', 'It answered 404.');
    };
    const spoken = { ...migration.services, preview: { ...preview, health } };
    await expect(migration.finish('preflight', {}, spoken)).rejects.toEqual(
      named('RefusedBackendAnswer'),
    );
  });
});
