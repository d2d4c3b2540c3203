// Which alarms undo a deployment. CloudFormation watches them while it deploys and for some minutes afterwards, and goes
// back to the earlier code and settings when one of them fires.
import type { Template } from './template.ts';

export interface RollbackConfiguration {
  readonly RollbackTriggers: readonly { readonly Arn: string; readonly Type: string }[];
  readonly MonitoringTimeInMinutes: number;
}

const CANARY = 'CanaryFailedAlarm';

// CloudFormation takes up to five. An alarm fires here when requests of clients fail.
const TRIGGERS = [
  'GatewayErrorsAlarm',
  'GatewayErrorRatioAlarm',
  'TransactionsErrorsAlarm',
  'CategoriesErrorsAlarm',
  CANARY,
];

/** Without triggers of its own a stack would keep those of the deployment before. */
export const NO_ROLLBACK: RollbackConfiguration = {
  RollbackTriggers: [],
  MonitoringTimeInMinutes: 0,
};

/**
 * Only alarms that are there and stay: CloudFormation refuses others.
 * @param arnOf of an alarm by its name
 * @param minutes 0: nothing undoes the deployment
 */
export function rollbackConfiguration(options: {
  readonly deployed: Template | undefined;
  readonly next: Template;
  readonly minutes: number;
  readonly arnOf: (alarmName: string) => string;
}): RollbackConfiguration {
  const { deployed, next, minutes, arnOf } = options;
  const isMoved = findAddress(deployed) !== findAddress(next);
  const triggers = isMoved ? TRIGGERS.filter((id) => id !== CANARY) : TRIGGERS;
  const names = triggers.flatMap((id) => {
    const name = deployed?.Resources[id]?.Properties?.AlarmName;
    return name === next.Resources[id]?.Properties?.AlarmName && name ? [String(name)] : [];
  });
  if (minutes === 0 || names.length === 0) return NO_ROLLBACK;
  const RollbackTriggers = names.map((name) => ({
    Arn: arnOf(name),
    Type: 'AWS::CloudWatch::Alarm',
  }));
  return { RollbackTriggers, MonitoringTimeInMinutes: minutes };
}

/**
 * Address that the canary uses. A new name answers only once the operator has pointed its record at the target that the
 * deployment creates: until then the canary fails, and would undo the deployment.
 */
function findAddress(template: Template | undefined): string {
  const { Environment } = template?.Resources.CanaryLambdaFunction?.Properties ?? {};
  const { Variables } = (Environment ?? {}) as { Variables?: { API_URL?: unknown } };
  return JSON.stringify(Variables?.API_URL ?? '');
}
