// What holds for a stage as a whole: its logs end some day, its files are private, its name is known.
import { describe, expect, it } from 'vitest';
import { type RoleProperties, statementsOf } from '../support/granted-access.ts';
import { readTemplate, resourcesOf, type Stage, theOnly } from '../support/packaged-template.ts';

const LOG_RETENTION_DAYS: readonly (readonly [Stage, number, ofGateway: number])[] = [
  ['dev', 14, 7],
  ['prod', 365, 30],
];

describe.each(LOG_RETENTION_DAYS)('stage %s', (stage, retentionDays, ofGateway) => {
  const template = readTemplate(stage);
  const logGroups = resourcesOf(template, 'AWS::Logs::LogGroup');

  it('logs every function and the gateway', () => {
    const functions = resourcesOf(template, 'AWS::Lambda::Function').map(
      ([, { Properties }]) => `/aws/lambda/${Properties.FunctionName}`,
    );
    const names = logGroups.map(([, { Properties }]) => Properties.LogGroupName);
    expect(names.sort()).toEqual([...functions, `/aws/http-api/finance-ledger-${stage}`].sort());
  });

  it.each(logGroups)('keeps %s for a stated time', (name, { Properties }) => {
    const days = name === 'HttpApiLogGroup' ? ofGateway : retentionDays;
    expect(Properties.RetentionInDays).toBe(days);
  });

  it('keeps the deployed code private', () => {
    expect(theOnly(template, 'AWS::S3::Bucket').Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  it('holds nothing of the environment it was packaged in', () => {
    expect(JSON.stringify(template)).not.toMatch(/left-in-the-shell|Berlin/);
  });
});

// The stages by themselves name no key and no bucket.
it.each(['dev', 'prod', 'migrating'] as const)(
  '%s has no statement without resources',
  (packaged) => {
    const statements = Object.values(readTemplate(packaged).Resources).flatMap(
      ({ Type, Properties }) =>
        Type === 'AWS::IAM::Role' ? statementsOf(Properties as RoleProperties) : [],
    );
    for (const { Resource } of statements) expect(Resource.length).toBeGreaterThan(0);
  },
);
