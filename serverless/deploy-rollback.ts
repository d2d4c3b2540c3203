// The alarms that roll a deployment back. CloudFormation watches them while it deploys and for some minutes afterwards, and
// reverts to the earlier code and settings when one of them fires.
import { UPGRADES } from '../lib/ledger/store/schema-upgrades.ts';
import { CANARY } from './ledger/canary.ts';
import type { Template } from './template.ts';

export interface RollbackConfiguration {
  readonly RollbackTriggers: readonly { readonly Arn: string; readonly Type: string }[];
  readonly MonitoringTimeInMinutes: number;
}

const CANARY_FAILED = 'CanaryFailedAlarm';

// CloudFormation accepts up to five alarms, CodeDeploy ten. These alarms fire when clients' requests fail.
const ROLLBACK_ALARMS = [
  'GatewayErrorsAlarm',
  'GatewayErrorRatioAlarm',
  'TransactionsErrorsAlarm',
  'CategoriesErrorsAlarm',
  CANARY_FAILED,
];

/** Lists the logical names of the alarms that roll a deployment of this stage back. */
export function listRollbackAlarms(functions: readonly string[]): string[] {
  return ROLLBACK_ALARMS.filter((id) => id !== CANARY_FAILED || functions.includes(CANARY));
}

/**
 * The stack parameter that makes a release gradual. A change of the stack without this parameter, such as a restore, takes
 * effect at once.
 */
export const RELEASE_PARAMETER = 'Release';

const SCHEMA_METADATA = 'SchemaVersion';

/** Records the schema version of the release in its template, where the next deployment reads it. */
export function releaseMetadata(): Template['Metadata'] {
  return { [SCHEMA_METADATA]: UPGRADES.length };
}

/** Explicitly empty: a deployment without triggers would keep those of the previous one. */
export const NO_ROLLBACK: RollbackConfiguration = {
  RollbackTriggers: [],
  MonitoringTimeInMinutes: 0,
};

/**
 * Lists the alarms that roll a deployment back, but only those that exist before and after it, because CloudFormation refuses
 * others.
 * @param toArn builds the ARN of an alarm from its name
 * @param minutes time for which the alarms are watched; with 0, nothing rolls the deployment back
 */
export function createRollbackConfiguration(options: {
  readonly deployed: Template | undefined;
  readonly next: Template;
  readonly minutes: number;
  readonly toArn: (alarmName: string) => string;
}): RollbackConfiguration {
  const { deployed, next, minutes, toArn } = options;
  const hasNewAddress = findAddress(deployed) !== findAddress(next);
  const triggers = hasNewAddress
    ? ROLLBACK_ALARMS.filter((id) => id !== CANARY_FAILED)
    : ROLLBACK_ALARMS;
  const names = triggers.flatMap((id) => {
    const name = deployed?.Resources[id]?.Properties?.AlarmName;
    return name === next.Resources[id]?.Properties?.AlarmName && name ? [String(name)] : [];
  });
  if (minutes === 0 || names.length === 0) return NO_ROLLBACK;
  const RollbackTriggers = names.map((name) => ({
    Arn: toArn(name),
    Type: 'AWS::CloudWatch::Alarm',
  }));
  return { RollbackTriggers, MonitoringTimeInMinutes: minutes };
}

/**
 * True if the functions may get the release gradually. CloudFormation must watch each alarm that stops CodeDeploy, or the release
 * would stop for an alarm that the deployment itself causes. The old and the new release must be able to read what the other writes.
 */
export function isGradual(options: {
  readonly deployed: Template | undefined;
  readonly next: Template;
  readonly rollback: RollbackConfiguration;
}): boolean {
  const { deployed, next, rollback } = options;
  const stoppingAlarms = ROLLBACK_ALARMS.filter((id) => next.Resources[id]);
  const watchedCount = rollback.RollbackTriggers.length;
  const hasReleaseParameter = next.Parameters?.[RELEASE_PARAMETER] !== undefined;
  const hasSameSchema = deployed?.Metadata?.[SCHEMA_METADATA] === next.Metadata?.[SCHEMA_METADATA];
  return (
    hasReleaseParameter &&
    watchedCount > 0 &&
    watchedCount === stoppingAlarms.length &&
    hasSameSchema
  );
}

/**
 * Finds the address that the canary uses. A new domain name resolves only once the operator has pointed its record at the target
 * that the deployment creates: until then the canary fails, and would roll the deployment back.
 */
function findAddress(template: Template | undefined): string {
  const { Environment } = template?.Resources.CanaryLambdaFunction?.Properties ?? {};
  const { Variables } = (Environment ?? {}) as { Variables?: { API_URL?: unknown } };
  return JSON.stringify(Variables?.API_URL ?? '');
}
