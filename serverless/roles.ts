// Creates one IAM role for each function, from its `table` list in serverless.yml.
import { HEALTH_KEY, LEDGERS } from '../lib/ledger/store/keys.ts';
import table from '../lib/shared/table.json' with { type: 'json' };
import {
  type Configuration,
  type Resources,
  readFunctions,
  toLogicalName,
} from './configuration.ts';

export interface Statement {
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly (object | string)[];
  readonly Condition?: object;
}

export interface Policy {
  readonly PolicyName: string;
  readonly PolicyDocument: { readonly Statement: readonly Pick<Statement, 'Action'>[] };
}

/** Name of the policy with a function's rights to ledgers. */
const LEDGER_POLICY = 'ledger-table';

/** DynamoDB actions that change items. */
export const WRITE_ACTIONS = ['PutItem', 'UpdateItem', 'DeleteItem'];

/** The table's ARN by name, not by the stack's resource: after a restore, another table is in use. */
export const TABLE_ARN = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/\${TableInUse}`;

// An administrator creates the boundary from docs/ledger/boundary-policy.json. A deployer cannot give a role more rights than the
// boundary allows.
const BOUNDARY = {
  PermissionsBoundary: {
    'Fn::Sub': `arn:\${AWS::Partition}:iam::\${AWS::AccountId}:policy/finance-ledger-boundary`,
  },
};

/** CloudFormation resources, `{ TransactionsListRole: ..., ... }`. */
export async function ledgerRoles(configuration: Configuration): Promise<Resources> {
  const functions = await readFunctions(configuration);
  return Object.fromEntries(
    Object.entries(functions).flatMap(([functionName, { table: actions }]) => {
      if (actions === undefined) return [];
      const name = toLogicalName(functionName);
      const policies =
        functionName === 'health' ? createHealthPolicies() : createTablePolicies(actions);
      return [[`${name}Role`, role(`${name}LogGroup`, policies)]];
    }),
  );
}

/** Creates the role of one function. */
export function role(logGroup: string, policies: readonly Policy[]): object {
  const ownLogGroup = policy('own-log-group', [createLogStatement(logGroup)]);
  return serviceRole('lambda.amazonaws.com', [ownLogGroup, ...policies]);
}

/** Creates a role that an AWS service assumes. */
export function serviceRole(Service: string, Policies: readonly Policy[]): object {
  const statement = { Effect: 'Allow', Principal: { Service }, Action: 'sts:AssumeRole' };
  const AssumeRolePolicyDocument = { Version: '2012-10-17', Statement: [statement] };
  return {
    Type: 'AWS::IAM::Role',
    Properties: { AssumeRolePolicyDocument, ...BOUNDARY, Policies },
  };
}

// The health check reads one key, which no item has.
function createHealthPolicies(): Policy[] {
  const readStatement = allow(['dynamodb:GetItem'], [substitute(TABLE_ARN)]);
  return [policy('health-check', [{ ...readStatement, Condition: restrictToKey(HEALTH_KEY.pk) }])];
}

function restrictToKey(key: string): object {
  return { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [key] } };
}

function createTablePolicies(actions: readonly string[]): Policy[] {
  if (actions.length === 0) return [];
  const queryResources: Readonly<Record<string, readonly string[]>> = {
    Query: [TABLE_ARN, ...listIndexArns()],
    QueryTable: [TABLE_ARN],
  };
  const ledgerActions = actions.filter((action) => action !== 'ApiKeys' && action !== 'Register');
  const statements = ledgerActions.map((action) =>
    queryResources[action]
      ? allow(['dynamodb:Query'], queryResources[action].map(substitute))
      : allow([`dynamodb:${action}`], [substitute(TABLE_ARN)]),
  );
  // A function looks up API keys by their hash, and records the day of their last use. None may list them.
  const apiKeyStatement = allow(
    ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    [substitute(TABLE_ARN)],
  );
  const Condition = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['@API_KEYS#*'] } };
  const registerStatement = allow(['dynamodb:PutItem'], [substitute(TABLE_ARN)]);
  return [
    ...(statements.length > 0 ? [policy(LEDGER_POLICY, statements.map(restrictToLedgers))] : []),
    policy('api-keys', [{ ...apiKeyStatement, Condition }]),
    ...(actions.includes('Register')
      ? [policy('list-of-ledgers', [{ ...registerStatement, Condition: restrictToKey(LEDGERS) }])]
      : []),
  ];
}

// API keys, the list of ledgers and the records of migrations are in the same table. No ledger's id begins with "@".
function restrictToLedgers(statement: Statement): Statement {
  const Condition = { 'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ['@*'] } };
  return { ...statement, Condition };
}

function listIndexArns(): string[] {
  return table.GlobalSecondaryIndexes.map(({ IndexName }) => `${TABLE_ARN}/index/${IndexName}`);
}

// The ARN of a log group ends in ":*", which stands for its streams. The template creates the group.
function createLogStatement(logGroup: string): Statement {
  return allow(
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    [{ 'Fn::GetAtt': [logGroup, 'Arn'] }],
  );
}

export function substitute(text: string): object {
  return { 'Fn::Sub': text };
}

export function allow(
  actions: readonly string[],
  resources: readonly (object | string)[],
): Statement {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}

export function policy(name: string, statements: readonly Statement[]): Policy {
  const PolicyDocument = { Version: '2012-10-17', Statement: statements };
  return { PolicyName: name, PolicyDocument };
}

/** True if a role with these policies may change items of ledgers. */
export function mayWriteLedgers(policies: readonly Policy[]): boolean {
  const writeActions = new Set(WRITE_ACTIONS.map((action) => `dynamodb:${action}`));
  return policies
    .filter(({ PolicyName }) => PolicyName === LEDGER_POLICY)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .some(({ Action }) => Action.some((each) => writeActions.has(each)));
}
