// `npm run verify-ledger` finds and repairs a difference, and reaches AWS only if asked to.
import { describe, expect, it } from 'vitest';
import { openDatabaseProxy } from '../../shared/support/database-proxy.ts';
import { itInFull } from '../../shared/support/quick-cases.ts';
import { DRIFT, openVerifyLedger } from '../support/verify-ledger-command.ts';

const { verifyLedger, verifyUntil, givenHousehold, givenAccount, table } = await openVerifyLedger();

describe('verify-ledger', () => {
  it('prints a drift and exits with 1, repairs it with --repair, and then exits with 0', async () => {
    const environment = await givenHousehold({ drift: true });
    const found = await verifyLedger(environment);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining(DRIFT) });
    const ledger = `ledger "${environment.LEDGER_ID}" of ${environment.TABLE_NAME}: 50 transactions, 30 categories`;
    expect(found.stdout.endsWith(`\n${ledger}: drifts: 1\n`)).toBe(true);
    const { code, stdout } = await verifyLedger(environment, '--repair', '--json');
    const repaired = { what: 'category count', recorded: -4, repairable: true };
    const verdict = { rows: 50, categories: 30, drifts: [], repaired: [repaired] };
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, ...verdict });
    const after = await verifyLedger(environment);
    expect(after).toEqual({ code: 0, stdout: `${ledger}: in order\n`, stderr: '' });
  });

  itInFull(
    'exits with 2 for a ledger that does not exist, and names the command that lists the ledgers',
    async () => {
      const environment = await givenHousehold();
      const stderr = `${environment.TABLE_NAME} has no records of a ledger "tuor": "npm run ledger -- list" prints its ledgers. Set LEDGER_ID to one of them.\n`;
      for (const options of [[], ['--full', '--json']]) {
        const result = await verifyLedger({ ...environment, LEDGER_ID: 'tuor' }, ...options);
        expect(result).toEqual({ code: 2, stdout: '', stderr });
      }
    },
  );

  itInFull(
    'continues where a killed run stopped, and starts from the beginning after a finished run',
    async () => {
      const environment = await givenHousehold({ transactions: 250 });
      const kill = new AbortController();
      const database = await openDatabaseProxy(table.endpoint);
      const countReads = () =>
        database.calls.filter((call) => call.endsWith('BatchGetItem')).length;
      const throughProxy = { ...environment, DYNAMODB_ENDPOINT: database.endpoint };
      try {
        database.withholdWhile(() => {
          if (countReads() === 2) kill.abort();
          return kill.signal.aborted;
        });
        expect((await verifyUntil(kill.signal, throughProxy)).stdout).toBe('');
        database.calls.length = 0;
        database.withholdWhile(() => false);
        expect(await verifyLedger(throughProxy)).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(': 250 transactions, 30 categories: in order'),
          stderr: expect.stringMatching(
            /^Continues after transaction 100, .* Delete \S+ to start from the beginning/,
          ),
        });
        expect(countReads()).toBe(2);
        expect(await verifyLedger(throughProxy)).toMatchObject({ code: 0, stderr: '' });
        expect(countReads()).toBe(2 + 3);
      } finally {
        await database.close();
      }
    },
  );

  itInFull('never reads or repairs AWS without --stage', async () => {
    const account = await givenAccount();
    for (const options of [[], ['--repair']]) {
      const { code, stdout, stderr } = await verifyLedger(account, ...options);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('.local/data does not exist');
    }
    expect((await verifyLedger(account, '--stage', 'prod')).stdout).toContain(DRIFT);
  });
});
