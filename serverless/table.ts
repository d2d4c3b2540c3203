// The table of the stack: lib/shared/table.json, which also defines the local table, with the settings that protect it.
import definition from '../lib/shared/table.json' with { type: 'json' };
import { type Configuration, readSection, readText } from './configuration.ts';

/** The stack parameter that names the table in use. */
export const TABLE_IN_USE = { Ref: 'TableInUse' };

/** The table that the functions use: the stack's parameter, or a plain name on this machine. */
export async function tableInUse(configuration: Configuration): Promise<object | string> {
  const isLocalStage = (await readText(configuration, 'sls:stage')) === 'local';
  return isLocalStage ? process.env.TABLE_NAME || 'finance-ledger-local' : TABLE_IN_USE;
}

/** CloudFormation resources, `{ LedgerTable }`. */
export async function ledgerTable(configuration: Configuration) {
  const { resolveVariable } = configuration;
  const service = await readSection<string>(configuration, 'service');
  const stage = await readText(configuration, 'sls:stage');
  // On-demand capacity is billed by use; these limits cap the bill.
  const OnDemandThroughput = {
    MaxReadRequestUnits: await resolveVariable('param:maxReadUnits'),
    MaxWriteRequestUnits: await resolveVariable('param:maxWriteUnits'),
  };
  return {
    LedgerTable: {
      Type: 'AWS::DynamoDB::Table',
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        ...definition,
        GlobalSecondaryIndexes: definition.GlobalSecondaryIndexes.map((index) => ({
          ...index,
          OnDemandThroughput,
        })),
        OnDemandThroughput,
        TableName: `${service}-${stage}`,
        // Idempotency markers expire.
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          RecoveryPeriodInDays: await resolveVariable('param:recoveryDays'),
        },
        Tags: [
          { Key: 'service', Value: service },
          { Key: 'stage', Value: stage },
        ],
      },
    },
  };
}
