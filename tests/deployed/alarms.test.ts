// Alarms of the deployed stage notify their topic when their metric says so. The emulator evaluates one metric without
// M of N; tests/wiring/alarms.test.ts evaluates every alarm as CloudWatch does.
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
import { beforeAll, expect, inject, test } from 'vitest';
import { clientOptions } from '../../local/emulated-stage.ts';

const { stage, environment } = inject('deployed');
const options = clientOptions(environment);
const cloudWatch = new CloudWatchClient(options);
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

test.each([
  ['gateway-errors', 1],
  ['gateway-latency', 3_000],
  ['table-conflicts', 20],
  ['watchdog-failed', 1],
  ['watchdog-undelivered', 1],
])('%s', async (name, value) => {
  const AlarmName = `finance-ledger-${stage}-${name}`;
  const describe = async () => {
    const { MetricAlarms = [] } = await cloudWatch.send(
      new DescribeAlarmsCommand({ AlarmNames: [AlarmName] }),
    );
    return MetricAlarms[0];
  };
  const alarm = await describe();
  const { Namespace, MetricName, Dimensions } = alarm ?? {};
  expect(alarm?.StateValue).not.toBe('ALARM');
  await cloudWatch.send(
    new PutMetricDataCommand({
      Namespace,
      MetricData: [{ MetricName, Dimensions, Value: value, Timestamp: new Date() }],
    }),
  );
  await expect.poll(async () => (await describe())?.StateValue).toBe('ALARM');
  const expected = `"AlarmName": "${AlarmName}"`;
  await expect.poll(notified).toContain(expected);
});
