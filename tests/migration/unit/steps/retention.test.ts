// People are reminded once a day; the removal that follows is tried again at once.
import { expect, it } from 'vitest';
import { isReminderDue } from '../../../../lib/migration/steps/retention.ts';
import { createRunTable, RUN } from '../../support/run-table.ts';

const DAY_MS = 86_400_000;

it('a reminder is due a day after the last one, and earlier once the rollback period is over', async () => {
  const table = createRunTable();
  const run = await table.begin(RUN);
  expect(await isReminderDue(table, run)).toBe(true);
  await table.runs.recordReminder(RUN);
  table.advanceClock(DAY_MS - 1);
  expect(await isReminderDue(table, run)).toBe(false);
  const window = { deadlineAt: 0, overAt: table.clock().getTime() };
  expect(await isReminderDue(table, { ...run, window })).toBe(true);
  await table.runs.recordReminder(RUN);
  expect(await isReminderDue(table, { ...run, window })).toBe(false);
  table.advanceClock(DAY_MS);
  expect(await isReminderDue(table, run)).toBe(true);
});
