// With --stage, a command works on the table that the stage uses, even after a restore replaced it, unless TABLE_NAME names
// another table.
import { afterEach, expect, it, vi } from 'vitest';
import { findStageDatabase } from '../../../../cli/find-database.ts';
import { openCloudFormation } from '../../support/cloud-formation.ts';

afterEach(() => void vi.unstubAllEnvs());

it("the database is the table that the stage's stack names, even after a restore", async () => {
  const { requests } = await openCloudFormation({
    LedgerTableName: 'finance-ledger-prod',
    TableName: 'finance-ledger-prod-restored',
  });
  const found = await findStageDatabase('prod', {});
  expect(found).toEqual({ endpoint: undefined, tableName: 'finance-ledger-prod-restored' });
  expect(requests).toEqual([expect.stringContaining('StackName=finance-ledger-prod')]);
});

it('there is no database if the stack names no table: no name is derived from the stage', async () => {
  await openCloudFormation({ LedgerTableName: 'finance-ledger-prod' });
  await expect(findStageDatabase('prod', {})).rejects.toThrow(
    'The stack finance-ledger-prod does not name the table in use: an earlier release deployed it. Deploy it again, or set TABLE_NAME.',
  );
});

it('TABLE_NAME names the database, even before the functions use it, without reading the stack', async () => {
  const { requests } = await openCloudFormation({ TableName: 'finance-ledger-prod' });
  const found = await findStageDatabase('prod', { TABLE_NAME: 'restored' });
  expect([found.tableName, requests]).toEqual(['restored', []]);
});
