// One IAM role per function, made from the tableAccess lines of serverless.yml.
import table from '../lib/store/table.json' with { type: 'json' };
import { logicalName } from './logical-name.js';

// Tracing actions know no resources, so AWS's own write-only policy grants them.
export const TRACING_POLICY = {
  'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/AWSXRayDaemonWriteAccess`,
};

/** CloudFormation resources, `{ TransactionsListRole: ..., ... }`. */
export async function roles({ resolveConfigurationProperty, resolveVariable }) {
  const tableArn = arnOf(await resolveVariable('param:tableName'));
  const access = await resolveConfigurationProperty(['custom', 'tableAccess']);
  return Object.fromEntries(
    Object.entries(access).map(([functionName, actions]) => {
      const name = logicalName(functionName);
      return [
        `${name}Role`,
        role(
          `${name}LogGroup`,
          functionName === 'health' ? healthPolicies(tableArn) : tablePolicies(tableArn, actions),
        ),
      ];
    }),
  );
}

/** A role of one function. */
export function role(logGroup, policies) {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: trust('lambda.amazonaws.com'),
      ManagedPolicyArns: [TRACING_POLICY],
      Policies: [policy('own-log-group', [logStatement(logGroup)]), ...policies],
    },
  };
}

/** Lets one service of AWS act in the role. */
export function trust(service) {
  const statement = { Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' };
  return { Version: '2012-10-17', Statement: [statement] };
}

// Reads one key, which no item has (lib/ledger/ledger.ts).
function healthPolicies(tableArn) {
  const Condition = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['HEALTH'] } };
  const read = allow(['dynamodb:GetItem'], [substituted(tableArn)]);
  return [policy('health-check', [{ ...read, Condition }])];
}

function tablePolicies(tableArn, actions) {
  if (actions.length === 0) return [];
  const queried = { Query: [tableArn, ...indexArns(tableArn)], QueryTable: [tableArn] };
  const statements = actions.map((action) =>
    action in queried
      ? allow(['dynamodb:Query'], queried[action].map(substituted))
      : allow([`dynamodb:${action}`], [substituted(tableArn)]),
  );
  // API keys are found by their hash, and marked with the day of their use.
  const apiKeys = allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], [substituted(tableArn)]);
  const Condition = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['@API_KEYS'] } };
  return [
    policy('ledger-table', statements.map(onlyLedgers)),
    policy('api-keys', [{ ...apiKeys, Condition }]),
  ];
}

// API keys and the records of migrations are in the same table. No ledger's id begins with "@".
function onlyLedgers(statement) {
  const Condition = { 'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ['@*'] } };
  return { ...statement, Condition };
}

function indexArns(tableArn) {
  return table.GlobalSecondaryIndexes.map(({ IndexName }) => `${tableArn}/index/${IndexName}`);
}

// By its name and not by the stack's own resource: after a restore the table in use is another one.
export function arnOf(tableName) {
  return `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${tableName}`;
}

// The ARN of a log group ends in ":*", which stands for its streams; the group itself is ours.
function logStatement(logGroup) {
  return allow(
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    [{ 'Fn::GetAtt': [logGroup, 'Arn'] }],
  );
}

export function substituted(text) {
  return { 'Fn::Sub': text };
}

export function allow(actions, resources) {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}

export function policy(name, statements) {
  return {
    PolicyName: name,
    PolicyDocument: { Version: '2012-10-17', Statement: statements },
  };
}
