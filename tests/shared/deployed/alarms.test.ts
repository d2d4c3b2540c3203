// A function that fails raises its alarm on the deployed stage. The emulator evaluates only alarms of a single metric, and applies
// other rules than CloudWatch: tests/shared/wiring/approved/migrating.yml records when each alarm really fires.
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  PutMetricDataCommand,
} from '@aws-sdk/client-cloudwatch';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, inject, test } from 'vitest';
import { clientOptions } from '../../../local/emulator/emulated-stage.ts';

const { stage, environment } = inject('deployed');
const cloudWatch = new CloudWatchClient(clientOptions(environment));

async function readState(name: string): Promise<string | undefined> {
  const AlarmNamePrefix = `finance-ledger-${stage}-${name}`;
  const { MetricAlarms } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNamePrefix }));
  return MetricAlarms?.[0]?.StateValue;
}

/** The watchdog of migrations is the function `migrationRetention`. */
const WATCHDOG = `finance-ledger-${stage}-migrationRetention`;

test('a watchdog that fails raises its alarm', async () => {
  expect(await readState('watchdog-failed')).not.toBe('ALARM');
  // Fails because a run's id must be a string.
  const Payload = JSON.stringify({ runId: 5 });
  const { FunctionError } = await new LambdaClient(
    clientOptions(inject('operator').environment),
  ).send(new InvokeCommand({ FunctionName: WATCHDOG, Payload }));
  expect(FunctionError).toBeDefined();
  // The emulator evaluates its alarms whenever it receives metric data.
  const MetricData = [{ MetricName: 'Any', Value: 1 }];
  await cloudWatch.send(new PutMetricDataCommand({ Namespace: 'Tests', MetricData }));
  expect(await readState('watchdog-failed')).toBe('ALARM');
});
