// Reads the outputs of a deployed stage's CloudFormation stack.
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DEFAULT_REGION } from '../local/local-access.ts';

export function stackName(stage: string): string {
  return `finance-ledger-${stage}`;
}

/** @returns undefined if the stack has no output of that name */
export async function readStackOutput(stage: string, name: string): Promise<string | undefined> {
  const StackName = stackName(stage);
  const client = new CloudFormationClient({ region: process.env.AWS_REGION || DEFAULT_REGION });
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs ?? [];
  return outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
}
