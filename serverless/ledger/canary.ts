// The canary of a stage: a function with a schedule and a role, if the operator has named the parameter with the canary's key.
import {
  type Configuration,
  type FunctionSettings,
  type Resources,
  readText,
} from '../configuration.ts';
import { apiUrl } from '../domain.ts';
import { allow, policy, role, substitute, TABLE_ARN } from '../roles.ts';

export const CANARY = 'canary';

/** The canary's function in the form of serverless.yml, without a route; none without a key. */
export async function canaryFunctions(
  configuration: Configuration,
): Promise<Record<string, FunctionSettings>> {
  const parameter = await readKeyParameter(configuration);
  if (parameter === '') return {};
  const canary = {
    handler: 'functions/canary/check.handler',
    role: 'CanaryRole',
    timeout: 60,
    // No retries: the next run comes soon enough, and each failure counts once.
    maximumRetryAttempts: 0,
    environment: {
      API_URL: await apiUrl(configuration),
      CANARY_KEY_PARAMETER: parameter,
    },
    events: [{ schedule: { rate: ['rate(5 minutes)'] } }],
  };
  return { [CANARY]: canary };
}

/** CloudFormation resources; none without a key. */
export async function canaryRole(configuration: Configuration): Promise<Resources> {
  const parameter = await readKeyParameter(configuration);
  if (parameter === '') return {};
  const table = [substitute(TABLE_ARN)];
  const keyArn = `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/${parameter.replace(/^\//, '')}`;
  return {
    CanaryRole: role('CanaryLogGroup', [
      policy('key', [allow(['ssm:GetParameter'], [substitute(keyArn)])]),
      policy('table-protection', [
        allow(['dynamodb:DescribeTable', 'dynamodb:DescribeContinuousBackups'], table),
      ]),
    ]),
  };
}

async function readKeyParameter(configuration: Configuration): Promise<string> {
  if ((await readText(configuration, 'sls:stage')) === 'local') return '';
  return await readText(configuration, 'param:canaryKeyParameter');
}
