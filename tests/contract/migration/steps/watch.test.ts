// What the watch does when nobody asks: it opens writes again after the window, and ends the days of a rollback.
import { describe, expect, it } from 'vitest';
import { createHandler as retentionHandler } from '../../../../functions/migration/retention.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { standingOf } from '../../../support/migration/holdings.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { watchUntilDone } from '../../../support/migration/watching.ts';

const DAY_MS = 86_400_000;

describe('the watch', () => {
  it.each(['frozen', 'equal'] as const)(
    'opens writes again when the window of a run that is %s has closed',
    async (point) => {
      const migration = await migrationAt(point);
      const { old } = await standingOf(migration);
      migration.pass(30 * 60_000);
      await watchUntilDone(migration);
      expect(await standingOf(migration)).toEqual({ old, active: SOURCE, phase: 'copied' });
      expect(migration.operator.heard.at(-1)).toBe('open-writes');
    },
  );

  it('ends the rollback period on its day', async () => {
    const migration = await migrationAt('live');
    migration.pass(30 * DAY_MS);
    expect(await keepWatch(migration.services)).toMatchObject({ phase: 'closed' });
    expect(await keepWatch(migration.services)).toBeUndefined();
  });
});

describe('the function of the watch', () => {
  const context = { getRemainingTimeInMillis: () => 600_000 };

  it('does what is due for a timer, and for a person the step of the run that is named', async () => {
    const migration = await migrationAt('live');
    const invoke = retentionHandler(async () => migration.services);
    migration.pass(30 * DAY_MS);
    const dryRun = { dryRun: true, forecast: { isOver: true } };
    expect(await invoke({ runId: RUN }, context)).toMatchObject(dryRun);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    const timer = { 'detail-type': 'Scheduled Event', resources: [], time: '2026-03-01T09:00:00Z' };
    expect(await invoke(timer, context)).toMatchObject({ phase: 'closed' });
  });
});
