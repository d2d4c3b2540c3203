// The deployed table is the local one, and neither a slip nor a removed stack can take it away.
import { describe, expect, it } from 'vitest';
import definition from '../../lib/store/table.json' with { type: 'json' };
import { readTemplate, type Stage, theOnly } from '../support/packaged-template.ts';

const LIMITS: readonly (readonly [Stage, recoveryDays: number, reads: number, writes: number])[] = [
  ['dev', 7, 600, 1200],
  ['prod', 35, 2000, 4000],
];

describe.each(LIMITS)(
  'the table of stage %s',
  (stage, recoveryDays, MaxReadRequestUnits, MaxWriteRequestUnits) => {
    const table = theOnly(readTemplate(stage), 'AWS::DynamoDB::Table');

    const OnDemandThroughput = { MaxReadRequestUnits, MaxWriteRequestUnits };

    it('is the one that lib/store/table.json defines, named, protected and limited', () => {
      expect(table.Properties).toEqual({
        ...definition,
        GlobalSecondaryIndexes: definition.GlobalSecondaryIndexes.map((index) => ({
          ...index,
          OnDemandThroughput,
        })),
        OnDemandThroughput,
        TableName: `finance-ledger-${stage}`,
        DeletionProtectionEnabled: true,
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          RecoveryPeriodInDays: recoveryDays,
        },
        Tags: [
          { Key: 'service', Value: 'finance-ledger' },
          { Key: 'stage', Value: stage },
        ],
      });
    });

    it('outlives its stack and its replacement', () => {
      expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    });
  },
);
