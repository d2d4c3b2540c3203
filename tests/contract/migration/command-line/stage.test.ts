// A deployed stage that the command line changes: nothing is invoked twice.
import { expect, it } from 'vitest';
import { createOperator, OF_RUN } from '../../../support/migration/command-line.ts';

const PREFLIGHT = 'finance-ledger-dev-migrationPreflight';

it('a function whose response is lost is not invoked again, because the step may still be at work', async () => {
  const operator = await createOperator('on a stage');
  await operator.start();
  operator.lambda.strike(PREFLIGHT, 'no answer');
  const { code, stderr } = await operator.migrate('preflight', ...OF_RUN);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/may still be at work/)]);
  expect(operator.lambda.invoked.filter((name) => name === PREFLIGHT)).toHaveLength(1);
});
