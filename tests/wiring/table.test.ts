// The deployed table is the local one, and neither a slip nor a removed stack can take it away.
import { describe, expect, it } from 'vitest';
import definition from '../../lib/store/table.json' with { type: 'json' };
import { readTemplate, type Stage, theOnly } from '../support/packaged-template.ts';

const RECOVERY_DAYS: readonly (readonly [Stage, number])[] = [
  ['dev', 7],
  ['prod', 35],
];

describe.each(RECOVERY_DAYS)('the table of stage %s', (stage, recoveryDays) => {
  const table = theOnly(readTemplate(stage), 'AWS::DynamoDB::Table');

  it('is the one that lib/store/table.json defines, named and protected', () => {
    expect(table.Properties).toEqual({
      ...definition,
      TableName: `finance-ledger-${stage}`,
      DeletionProtectionEnabled: true,
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
});
