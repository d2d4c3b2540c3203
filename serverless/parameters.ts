// The rules for the values of a stage's parameters in serverless.yml.
import { readLedgerConfig } from '../lib/ledger/config.ts';
import { Refusal } from '../lib/migration/refusals.ts';
import { readStepSettings } from '../lib/migration/settings.ts';
import { LOCKED_DAYS } from './ledger/backups.ts';
import { SETTINGS } from './migration/settings.ts';

/** Values from serverless.yml and the command line: text or numbers. */
export type Parameters = Readonly<Record<string, unknown>>;

interface Rule {
  /** Text that completes "must be". */
  readonly requirement: string;
  readonly allows: (text: string) => boolean;
}

// The only retentions that CloudWatch Logs accepts.
const RETENTION_DAYS = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096],
  ...[1827, 2192, 2557, 2922, 3288, 3653],
];

const RETENTION: Rule = {
  requirement: `one of ${RETENTION_DAYS.join(', ')}`,
  allows: (text) => RETENTION_DAYS.map(String).includes(text),
};

// Any text, because the functions that read the parameter validate it.
const ANY: Rule = { requirement: 'text', allows: () => true };

const RULES: Readonly<Record<string, Rule>> = {
  auth: {
    requirement: '"required" in a deployed stage',
    allows: (text) => text === 'required',
  },
  authIssuer: ANY,
  authAudience: ANY,
  ledgerId: ANY,
  timeZone: ANY,
  metricsNamespace: matching(/^[\w.#:/-]{0,255}$/, '0 to 255 letters, digits or any of ".-_/#:"'),
  memorySize: wholeNumber(128, 10_240),
  ...Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ANY])),
  artifactsUrl: orEmpty(
    matching(
      /^s3:\/\/[a-z0-9][a-z0-9.-]{2,62}\/[^/]/,
      's3://bucket/prefix, with a bucket of this account',
    ),
  ),
  alarmTopicArn: orEmpty(
    matching(
      /^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
      'the ARN of an SNS topic, such as arn:aws:sns:eu-west-1:111122223333:alarms',
    ),
  ),
  canaryKeyParameter: orEmpty(
    matching(/^\/[\w./-]{1,200}$/, 'a name such as /finance-ledger/prod/canary-key'),
  ),
  monthlyBudgetUsd: orEmpty({
    requirement: 'a number above 0',
    allows: (text) => Number(text) > 0,
  }),
  reservedConcurrency: orEmpty(wholeNumber(1, 1000)),
  deployDuringRun: ANY,
  // CloudFormation watches alarms for at most this long.
  rollbackMinutes: wholeNumber(0, 180),
  allowedOrigins: {
    requirement:
      '"*" or origins such as https://app.example, comma-separated, without a slash at the end',
    allows: (text) => readOrigins(text).every(isOrigin),
  },
  throttleRate: wholeNumber(1, 100_000),
  throttleBurst: wholeNumber(1, 100_000),
  bulkRate: wholeNumber(1, 100_000),
  searchRate: wholeNumber(1, 100_000),
  domainName: orEmpty(
    matching(/^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'a name such as ledger.example'),
  ),
  certificateArn: orEmpty(
    matching(
      /^arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      'the ARN of an ACM certificate',
    ),
  ),
  logRetentionDays: RETENTION,
  accessLogDays: RETENTION,
  recoveryDays: wholeNumber(1, 35),
  backupDays: orEmpty(wholeNumber(LOCKED_DAYS.MinRetentionDays, LOCKED_DAYS.MaxRetentionDays)),
  // AWS Backup requires a grace period of at least three days, in which the lock can be removed.
  backupLockDays: orEmpty(wholeNumber(3, 36_500)),
  backupCopyVaultArn: orEmpty(
    matching(
      /^arn:aws[\w-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/,
      'the ARN of a vault, such as arn:aws:backup:eu-west-1:444455556666:backup-vault:ledger',
    ),
  ),
  maxReadUnits: wholeNumber(1, 10_000_000),
  maxWriteUnits: wholeNumber(1, 10_000_000),
};

// Parameters that have no effect without another.
const REQUIRED_WITH: Readonly<Record<string, string>> = {
  monthlyBudgetUsd: 'alarmTopicArn',
  backupCopyVaultArn: 'backupDays',
  backupLockDays: 'backupDays',
};

// Environment variables of the functions, by the parameters that set them.
const VARIABLES = {
  auth: 'AUTH',
  authIssuer: 'AUTH_ISSUER',
  authAudience: 'AUTH_AUDIENCE',
  ledgerId: 'LEDGER_ID',
  timeZone: 'TIME_ZONE',
  ...SETTINGS,
};

/** Lists every invalid parameter of a stage, with its value and the rule. */
export function findFaults(stage: string, parameters: Parameters): string[] {
  const unknownNames = Object.keys(parameters).filter((name) => !Object.hasOwn(RULES, name));
  if (unknownNames.length > 0) {
    return [
      `Unknown parameter ${unknownNames.join(', ')}. Use ${Object.keys(RULES).sort().join(', ')}.`,
    ];
  }
  const isDeployed = stage !== 'local';
  const ruleFaults = Object.entries(RULES)
    .filter(([name]) => isDeployed || name !== 'auth')
    .flatMap(([name, { requirement, allows }]) => {
      const value = parameters[name];
      if (value === undefined || value === null) return [`${name} is not set.`];
      return allows(String(value)) ? [] : [`${name} "${value}" must be ${requirement}.`];
    });
  const { alarmTopicArn, domainName, certificateArn } = parameters;
  const unmetRequirements = Object.entries(REQUIRED_WITH).filter(
    ([name, requiredName]) => parameters[name] !== '' && parameters[requiredName] === '',
  );
  return [
    ...ruleFaults,
    ...(stage === 'prod' && alarmTopicArn === ''
      ? ['alarmTopicArn is empty: alarms of prod would notify no one.']
      : []),
    ...((domainName === '') === (certificateArn === '')
      ? []
      : ['domainName and certificateArn must be set together or not at all.']),
    ...unmetRequirements.map(
      ([name, requiredName]) => `${name} "${parameters[name]}" needs ${requiredName}.`,
    ),
    ...findVariableFaults(parameters),
  ];
}

/** Lists the values that the functions themselves would refuse. */
function findVariableFaults(parameters: Parameters): string[] {
  const environment = Object.fromEntries(
    Object.entries(VARIABLES).map(([name, variable]) => [variable, String(parameters[name] ?? '')]),
  );
  environment.COLLECTION_SETTING = `ssm:${environment.COLLECTION_SETTING}`;
  const { AUTH, LEDGER_ID, AUTH_ISSUER, AUTH_AUDIENCE, TIME_ZONE } = environment;
  const table = { TABLE_NAME: 'any' };
  const checks = [
    () => readLedgerConfig({ ...table, AUTH, LEDGER_ID }),
    () => readLedgerConfig({ ...table, AUTH_ISSUER, AUTH_AUDIENCE }),
    () => readLedgerConfig({ ...table, TIME_ZONE }),
    ...(environment.QDRANT_URL ? [() => readStepSettings({ ...environment, ...table })] : []),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [
        nameParameters(error instanceof Refusal ? error.why : `${(error as Error).message}.`),
      ];
    }
  });
}

/** Replaces each environment variable in a sentence by the parameter that sets it. */
function nameParameters(sentence: string): string {
  const parameters = new Map(Object.entries(VARIABLES).map(([name, variable]) => [variable, name]));
  return sentence.replace(/[A-Z][A-Z0-9_]+/g, (word) => parameters.get(word) ?? word);
}

export function readOrigins(text: string): string[] {
  return text.split(',').map((origin) => origin.trim());
}

/** True for an origin that a browser could send: an address without a path, and without a slash at its end. */
export function isOrigin(text: string): boolean {
  return text === '*' || URL.parse(text)?.origin === text;
}

function matching(pattern: RegExp, requirement: string): Rule {
  return { requirement, allows: (text) => pattern.test(text) };
}

function wholeNumber(min: number, max: number): Rule {
  return {
    requirement: `a whole number from ${min} to ${max}`,
    allows: (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max,
  };
}

function orEmpty({ requirement, allows }: Rule): Rule {
  return { requirement: `${requirement}, or empty`, allows: (text) => text === '' || allows(text) };
}
