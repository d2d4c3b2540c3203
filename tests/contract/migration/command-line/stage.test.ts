// A deployed stage that the command line changes: nothing is invoked too early, and nothing twice.
import { describe, expect, it } from 'vitest';
import { createOperator, OF_RUN } from '../../../support/migration/command-line.ts';

const PREFLIGHT = 'finance-ledger-dev-migrationPreflight';
const ABORT = 'finance-ledger-dev-migrationAbort';

describe('a function of a stage', () => {
  it('is not invoked before what cannot be undone is confirmed', async () => {
    const { migrate, start, lambda } = await createOperator('on a stage');
    await start();
    lambda.invoked.length = 0;
    expect((await migrate('abort', ...OF_RUN, '--execute')).code).toBe(3);
    expect(lambda.invoked).not.toContain(ABORT);
    await migrate('abort', ...OF_RUN, '--execute', '--yes');
    expect(lambda.invoked).toContain(ABORT);
  });

  it('whose response is lost is not invoked again, because the step may still be at work', async () => {
    const operator = await createOperator('on a stage');
    await operator.start();
    operator.lambda.strike(PREFLIGHT, 'no answer');
    const { code, stderr } = await operator.migrate('preflight', ...OF_RUN);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/may still be at work/)]);
    expect(operator.lambda.invoked.filter((name) => name === PREFLIGHT)).toHaveLength(1);
  });
});
