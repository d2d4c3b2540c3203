// Fears of a window that does not close.
import { describe, expect, it } from 'vitest';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { standingOf } from '../../../support/migration/holdings.ts';
import type { Migration } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { watchUntilDone } from '../../../support/migration/watching.ts';

describe('Fear 7: writes are never unfrozen, or frozen past the window', () => {
  async function frozen(): Promise<Migration> {
    return await migrationAt('frozen');
  }

  async function halfSwitched(): Promise<Migration> {
    const migration = await migrationAt('switching', {
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSemanticOnly'));
    return migration;
  }

  it.each([
    ['just frozen', frozen],
    ['switching', () => migrationAt('switching')],
    ['half switched', halfSwitched],
  ] as const)('a run that is %s at the deadline rolls back by itself', async (_, arrive) => {
    const migration = await arrive();
    const { old } = await standingOf(migration);
    migration.pass(30 * 60_000);
    await watchUntilDone(migration);
    expect(await standingOf(migration)).toEqual({ old, active: SOURCE, phase: 'rolled-back' });
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });
});
