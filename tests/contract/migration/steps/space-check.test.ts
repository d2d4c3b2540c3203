// Room on the store: nobody there tells how much is free, so whoever can look has to say it.
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const NOT_TOLD = { freeBytes: undefined };

async function spaceOf({ services, runs }: Migration) {
  const reference = (await runs.read(RUN)).evidence['preflight-report'];
  if (!reference) throw new Error('No report');
  const { space } = (await readReport(services, reference)) as {
    space: { neededBytes: number; freeBytes: number | null };
  };
  return space;
}

async function checked(plan: Record<string, unknown>): Promise<Migration> {
  const migration = await migrationAt('preflighted', {}, plan);
  return migration;
}

describe('free space', () => {
  it('that nobody has told is refused, and nothing is changed', async () => {
    const migration = await migrationAt('started', {}, NOT_TOLD);
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(/needs about [\d,.]+ (bytes|GB)/);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  it('that nobody has told may be accepted', async () => {
    const migration = await checked({ ...NOT_TOLD, accepts: ['unknown-space'] });
    expect(await spaceOf(migration)).toMatchObject({ freeBytes: null });
  });

  it('below three times the collection and its keywords is refused with both numbers', async () => {
    const { neededBytes } = await spaceOf(await checked({}));
    const migration = await migrationAt('started', {}, { freeBytes: neededBytes - 1 });
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    const told = (bytes: number) => bytes.toLocaleString('en');
    await expect(attempt).rejects.toThrow(`${told(neededBytes - 1)} bytes`);
    await expect(attempt).rejects.toThrow(`${told(neededBytes)} bytes`);
    await migration.finish('preflight', { freeBytes: neededBytes });
    expect(await spaceOf(migration)).toMatchObject({ neededBytes, freeBytes: neededBytes });
  });

  it('that is little is not accepted as unknown', async () => {
    const migration = await migrationAt(
      'started',
      {},
      { freeBytes: 1, accepts: ['unknown-space'] },
    );
    await expect(migration.finish('preflight')).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('is counted with vectors, payloads and keywords, three times over', async () => {
    const migration = await checked({});
    const { points } = await migration.services.vectors.scroll(SOURCE, { limit: 100 });
    const bytes = points.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    const words = points.reduce(
      (sum, { payload }) =>
        sum + (JSON.parse(payload).data ?? '').split(/[^\p{L}\p{N}]+/u).filter(Boolean).length,
      0,
    );
    const { neededBytes } = await spaceOf(migration);
    expect(neededBytes).toBe(3 * (bytes + points.length * 8 * 4) + words * 8);
  });
});
