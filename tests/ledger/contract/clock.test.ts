// Rules that depend on the clock. The unit test of records covers updated_at on a clock that is set back.
import { expect, test } from 'vitest';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';

test('the default of transaction_date is the current day in the service’s time zone', async () => {
  const created_at = '2024-12-31T23:30:00.000Z';
  const clock = () => new Date(created_at);
  const service = await createTestService({ timeZone: 'Europe/Berlin', clock });
  const created = await givenTransaction(await openInProcess(service));
  expect(created).toMatchObject({ transaction_date: '2025-01-01', created_at });
});
