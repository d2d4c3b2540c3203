// Parameters of a stage that are refused before anything is packaged.
import { describe, expect, it } from 'vitest';
import { MIGRATING } from '../../../local/emulator/migrating-parameters.ts';
import { findFaults } from '../../../serverless/parameters.ts';
import { createGuard, readParameters } from '../support/deploy-guard.ts';

function stageParameters(stage: string): Record<string, unknown> {
  const { default: common, [stage]: own } = readParameters();
  return { ...common, ...own };
}

function findFaultsWith(parameters: object, stage = 'prod'): string[] {
  return findFaults(stage, { ...stageParameters(stage), ...parameters });
}

it.each(['dev', 'prod'])(
  'the parameters of %s are valid, with and without those of a migration',
  (stage) => {
    expect(findFaultsWith({}, stage)).toEqual([]);
    expect(findFaultsWith(MIGRATING, stage)).toEqual([]);
  },
);

it.each([
  ['auth', 'open', 'auth "open" must be "required" in a deployed stage.'],
  [
    'authIssuer',
    'http://insecure',
    'authIssuer and authAudience must be set together or not at all.',
  ],
  ['timeZone', 'Mars/Phobos', 'timeZone "Mars/Phobos" is not a known time zone.'],
  ['metricsNamespace', 'a b', /^metricsNamespace "a b" must be 0 to 255 letters/],
  ['memorySize', '64', 'memorySize "64" must be a whole number from 128 to 10240.'],
  ['reservedConcurrency', 'abc', /^reservedConcurrency "abc" must be a whole number .*or empty\.$/],
  ['reservedConcurrency', '0', /^reservedConcurrency "0" must be/],
  ['throttleRate', '-1', /^throttleRate "-1" must be a whole number/],
  ['throttleBurst', '1e3', /^throttleBurst "1e3" must be a whole number/],
  ['logRetentionDays', '15', /^logRetentionDays "15" must be one of 1, 3, 5, 7, 14/],
  ['accessLogDays', '2', /^accessLogDays "2" must be one of 1, 3/],
  [
    'domainName',
    'ledger.example',
    'domainName and certificateArn must be set together or not at all.',
  ],
  ['recoveryDays', '36', /^recoveryDays "36" must be/],
  ['maxReadUnits', '', /^maxReadUnits "" must be/],
  ['maxWriteUnits', '0', /^maxWriteUnits "0" must be/],
  ['alarmTopicArn', 'notanarn', /^alarmTopicArn "notanarn" must be the ARN of an SNS topic/],
  ['alarmTopicArn', '', 'alarmTopicArn is empty: alarms of prod would notify no one.'],
  ['backupDays', '6', /^backupDays "6" must be a whole number from 7 to 365, or empty\.$/],
  ['backupLockDays', '2', /^backupLockDays "2" must be a whole number from 3 /],
  ['backupCopyVaultArn', 'ledger', /^backupCopyVaultArn "ledger" must be the ARN of a vault/],
  ['canaryKeyParameter', 'canary-key', /^canaryKeyParameter "canary-key" must be a name such as/],
  ['allowedOrigins', 'https://a.example/', /^allowedOrigins "https:\/\/a.example\/" must be/],
  ['allowedOrigins', 'https://a.example,b', /^allowedOrigins "https:\/\/a.example,b" must be/],
  ['artifactsUrl', 'file:///tmp', /^artifactsUrl "file:\/\/\/tmp" must be s3:\/\/bucket\/prefix/],
  ['artifactsUrl', 'nonsense', /^artifactsUrl "nonsense" must be/],
] as const)('%s=%s is refused in one sentence', (name, value, sentence) => {
  expect(findFaultsWith({ [name]: value })).toEqual([
    typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
  ]);
});

it('an issuer needs an https address', () => {
  expect(findFaultsWith({ authIssuer: 'http://insecure', authAudience: 'ledger' })).toEqual([
    'authIssuer must be an https address, not "http://insecure".',
  ]);
});

it('a budget needs a topic and a positive amount', () => {
  expect(findFaultsWith({ monthlyBudgetUsd: '50' }, 'dev')).toEqual([
    'monthlyBudgetUsd "50" needs alarmTopicArn.',
  ]);
  expect(findFaultsWith({ ...MIGRATING, monthlyBudgetUsd: 'much' })).toEqual([
    'monthlyBudgetUsd "much" must be a number above 0, or empty.',
  ]);
});

it.each([
  ['backupCopyVaultArn', MIGRATING.backupCopyVaultArn],
  ['backupLockDays', '30'],
])('%s needs backups', (name, value) => {
  expect(findFaultsWith({ [name]: value }, 'dev')).toEqual([
    `${name} "${value}" needs backupDays.`,
  ]);
});

it('a store to migrate needs the parameters of its steps, and the message names them', () => {
  const [sentence, ...others] = findFaultsWith({ qdrantUrl: 'https://qdrant.example:6333' });
  expect(others).toEqual([]);
  for (const name of ['memoryBackendUrl', 'memoryBackendKeyParameter', 'artifactsUrl'])
    expect(sentence).toContain(name);
});

it('all faults are named at once', () => {
  const faults = findFaultsWith({ auth: 'open', timeZone: 'Mars/Phobos', throttleRate: -1 });
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['auth', 'throttleRate', 'timeZone']);
});

it('a parameter that a new stage lacks is named', () => {
  const { throttleRate: _, ...others } = stageParameters('dev');
  expect(findFaults('staging', others)).toEqual(['throttleRate is not set.']);
});

it('requests without a key are possible only on the stage local', () => {
  const local = { ...stageParameters('dev'), auth: 'open' };
  expect(findFaults('local', local)).toEqual([]);
  expect(findFaults('local', { ...local, ledgerId: 'a b' })).toEqual([
    'ledgerId must be 1 to 64 letters, digits, "_" or "-".',
  ]);
  expect(findFaults('local', { ...local, auth: 'none' })).toEqual([
    'auth must be "required" or "open".',
  ]);
});

describe('Serverless Framework', () => {
  it.each(['info', 'package', 'deploy', 'remove'])(
    'refuses a faulty parameter in %s',
    (command) => {
      const start = (param: string[]) => createGuard({ command, options: { param } });
      expect(() => start(['auth=open'])).toThrow('Refused. auth "open" must be "required"');
      expect(() => start(['qdrantUlr=x'])).toThrow(
        /^Refused\. Unknown parameter qdrantUlr\. Use .*qdrantUrl/,
      );
    },
  );

  it('uses the last value of a parameter, as a whole', () => {
    const start = (param: string[]) => createGuard({ command: 'package', options: { param } });
    expect(() => start(['deployDuringRun=a=b', 'auth=open', 'auth=required'])).not.toThrow();
    expect(() => start(['auth=required', 'auth=open'])).toThrow('auth "open"');
    expect(() => start(['auth=required=no'])).toThrow('auth "required=no"');
  });

  it.each(['nope', 'default', 'toString'])('refuses the stage %s', (stage) => {
    expect(() => createGuard({ stage })).toThrow(
      `The stage ${stage} is not described under "params" of serverless.yml, which has dev, prod, local.`,
    );
  });
});
