// One IAM role per function, made from the tableAccess lines of serverless.yml.
import table from './lib/store/table.json' with { type: 'json' };

const TABLE_ARN = { 'Fn::GetAtt': ['LedgerTable', 'Arn'] };
const INDEX_ARNS = table.GlobalSecondaryIndexes.map(({ IndexName }) => ({
  'Fn::Sub': `\${LedgerTable.Arn}/index/${IndexName}`,
}));

// Tracing actions know no resources, so AWS's own write-only policy grants them.
const TRACING_POLICY = {
  'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/AWSXRayDaemonWriteAccess`,
};

/** CloudFormation resources, `{ TransactionsListRole: ..., ... }`. */
export async function roles({ resolveConfigurationProperty }) {
  const access = await resolveConfigurationProperty(['custom', 'tableAccess']);
  return Object.fromEntries(
    Object.entries(access).map(([functionName, actions]) => {
      const logicalName = functionName[0].toUpperCase() + functionName.slice(1);
      return [`${logicalName}Role`, role(`${logicalName}LogGroup`, actions)];
    }),
  );
}

function role(logGroup, actions) {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: 'lambda.amazonaws.com' },
            Action: 'sts:AssumeRole',
          },
        ],
      },
      ManagedPolicyArns: [TRACING_POLICY],
      Policies: [policy('own-log-group', [logStatement(logGroup)]), ...tablePolicies(actions)],
    },
  };
}

function tablePolicies(actions) {
  if (actions.length === 0) return [];
  return [policy('ledger-table', [...queryStatements(actions), ...itemStatements(actions)])];
}

function queryStatements(actions) {
  if (actions.includes('Query')) return [allow(['dynamodb:Query'], [TABLE_ARN, ...INDEX_ARNS])];
  if (actions.includes('QueryTable')) return [allow(['dynamodb:Query'], [TABLE_ARN])];
  return [];
}

function itemStatements(actions) {
  const items = actions.filter((action) => !action.startsWith('Query'));
  return items.length === 0
    ? []
    : [
        allow(
          items.map((item) => `dynamodb:${item}`),
          [TABLE_ARN],
        ),
      ];
}

// The ARN of a log group ends in ":*", which stands for its streams; the group itself is ours.
function logStatement(logGroup) {
  return allow(
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    [{ 'Fn::GetAtt': [logGroup, 'Arn'] }],
  );
}

function allow(actions, resources) {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}

function policy(name, statements) {
  return {
    PolicyName: name,
    PolicyDocument: { Version: '2012-10-17', Statement: statements },
  };
}
