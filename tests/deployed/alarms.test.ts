// Alarms of the deployed stage fire and recover, and notify their topic. The emulator evaluates one metric, and all data
// of the evaluated periods at once; tests/wiring/alarms.test.ts evaluates every alarm as CloudWatch does.
import {
  CloudFormationClient,
  CreateStackCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  PutMetricDataCommand,
} from '@aws-sdk/client-cloudwatch';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { beforeAll, expect, inject, test } from 'vitest';
import { clientOptions } from '../../local/emulator/emulated-stage.ts';
import { CAUSES } from '../support/alarm-causes.ts';

const { stage, environment } = inject('deployed');
const options = clientOptions(environment);
const cloudWatch = new CloudWatchClient(options);
const SELDOM = { interval: 500 };
const OF_ONE_METRIC = ['CanaryFailed', 'TableConflicts', 'WatchdogFailed'];
const STACK = {
  Resources: {
    Topic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'alarms' } },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'alarms' } },
    Subscription: {
      Type: 'AWS::SNS::Subscription',
      Properties: {
        Protocol: 'sqs',
        TopicArn: { Ref: 'Topic' },
        Endpoint: { 'Fn::GetAtt': ['Queue', 'Arn'] },
      },
    },
    QueuePolicy: {
      Type: 'AWS::SQS::QueuePolicy',
      Properties: {
        Queues: [{ Ref: 'Queue' }],
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Allow',
              Principal: { Service: 'sns.amazonaws.com' },
              Action: 'sqs:SendMessage',
              Resource: { 'Fn::GetAtt': ['Queue', 'Arn'] },
            },
          ],
        },
      },
    },
  },
};

beforeAll(async () => {
  const client = new CloudFormationClient(options);
  const StackName = 'alarms';
  const TemplateBody = JSON.stringify(STACK);
  await client.send(new CreateStackCommand({ StackName, TemplateBody }));
  await waitUntilStackCreateComplete({ client, maxWaitTime: 60 }, { StackName });
});

/** All that the topic has sent so far; the emulator shows its queues without receiving from them. */
async function notified(): Promise<string> {
  const response = await fetch(`${environment.AWS_ENDPOINT_URL}/_ministack/sqs/messages`);
  return (await response.text()).replaceAll('\\', '');
}

async function describeAlarms(AlarmNamePrefix = `finance-ledger-${stage}-`) {
  const { MetricAlarms = [] } = await cloudWatch.send(
    new DescribeAlarmsCommand({ AlarmNamePrefix }),
  );
  return MetricAlarms;
}

async function stateOf(name: string): Promise<string | undefined> {
  return (await describeAlarms(name))[0]?.StateValue;
}

/** `GatewayErrors` -> `finance-ledger-dev-gateway-errors` */
function nameOf(id: string): string {
  return `finance-ledger-${stage}${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

// The emulator takes a metric of one function for that of all, so those that look back furthest come first.
const spanOf = ({ Period = 0, EvaluationPeriods = 0 }) => Period * EvaluationPeriods;
const alarms = (await describeAlarms())
  .toSorted((one, other) => spanOf(other) - spanOf(one))
  .map((alarm) => [alarm.AlarmName ?? '', alarm] as const);

test.each(alarms)('%s fires and recovers, and notifies of both', async (name, alarm) => {
  const { Namespace, MetricName, Dimensions } = alarm;
  const [, known] = Object.entries(CAUSES).find(([id]) => nameOf(id) === name) ?? [];
  const put = (Value: number | undefined, secondsAgo: number) => {
    const Timestamp = new Date(Date.now() - secondsAgo * 1000);
    const MetricData = [{ MetricName, Dimensions, Value, Timestamp }];
    return cloudWatch.send(new PutMetricDataCommand({ Namespace, MetricData }));
  };
  expect(await stateOf(name)).not.toBe('ALARM');
  // About to leave the evaluated periods, so that the recovery comes soon.
  await put(known?.cause, spanOf(alarm) - 5);
  expect(await stateOf(name)).toBe('ALARM');
  const recovered = async () => {
    await put(known?.healthy ?? 0, 0);
    return await stateOf(name);
  };
  await expect.poll(recovered, SELDOM).toBe('OK');
  for (const state of ['ALARM', 'OK']) {
    const message = new RegExp(`"AlarmName": "${name}"[^}]*"NewStateValue": "${state}"`);
    await expect.poll(notified, SELDOM).toMatch(message);
  }
});

test('every alarm of one metric is deployed here', () => {
  expect(alarms.map(([name]) => name)).toEqual(expect.arrayContaining(OF_ONE_METRIC.map(nameOf)));
});

test('a watchdog that fails raises its alarm', async () => {
  const FunctionName = `finance-ledger-${stage}-migrationRetention`;
  const Payload = JSON.stringify({ runId: 5 });
  const { FunctionError } = await new LambdaClient(
    clientOptions(inject('operator').environment),
  ).send(new InvokeCommand({ FunctionName, Payload }));
  expect(FunctionError).toBeDefined();
  // The emulator evaluates its alarms when somebody sends data, whatever they are.
  const MetricData = [{ MetricName: 'Any', Value: 1 }];
  await cloudWatch.send(new PutMetricDataCommand({ Namespace: 'Tests', MetricData }));
  expect(await stateOf(nameOf('WatchdogFailed'))).toBe('ALARM');
});
