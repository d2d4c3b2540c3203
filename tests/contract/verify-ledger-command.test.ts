// `npm run verify-ledger`: finds and repairs a difference, and never reaches AWS unless it is asked to.
import { describe, expect, it } from 'vitest';
import { DRIFT, openVerifyLedger } from '../support/verify-ledger-command.ts';

const { verifyLedger, givenHousehold, givenAccount } = await openVerifyLedger();

describe('verify-ledger', () => {
  it('prints a drift and ends with 1; repairs it with --repair, and then ends with 0', async () => {
    const environment = await givenHousehold({ drift: true });
    const found = await verifyLedger(environment);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining(DRIFT) });
    const named = `ledger "${environment.LEDGER_ID}" of ${environment.TABLE_NAME}: 50 transactions, 30 categories`;
    expect(found.stdout.endsWith(`\n${named}: drifts: 1\n`)).toBe(true);
    const { code, stdout } = await verifyLedger(environment, '--repair', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{ rows: 50, categories: 30, drifts: [] },
        repaired: [
          expect.objectContaining({ what: 'category count', recorded: -4, repairable: true }),
        ],
      },
    ]);
    const after = await verifyLedger(environment);
    expect(after).toEqual({
      code: 0,
      stdout: `${named}: in order\n`,
      stderr: '',
    });
  });

  it('never reads or repairs AWS without --stage', async () => {
    const account = await givenAccount();
    for (const options of [[], ['--repair']]) {
      const { code, stdout, stderr } = await verifyLedger(account, ...options);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('.local/data does not exist');
    }
    expect((await verifyLedger(account, '--stage', 'prod')).stdout).toContain(DRIFT);
  });
});
