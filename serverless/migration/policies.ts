// The permissions of the migration's functions, one policy for each resource that a function uses.
import { allow, type Policy, policy, substitute, TABLE_ARN } from '../roles.ts';

const ACCOUNT = `\${AWS::Region}:\${AWS::AccountId}`;
const STEP_ACTIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'];

/** An entry of `migrationAccess` in serverless.yml. */
export interface MigrationAccess {
  readonly runs: 'step' | readonly string[];
  readonly setting?: 'read' | 'change';
  readonly artifacts?: keyof typeof ARTIFACT_ACCESS;
  readonly reaches?: readonly string[];
}

/** Allows only the items of runs in the table: no ledger's id begins with "@" (lib/migration/runs/run-lock.ts). */
export function runPolicies(access: MigrationAccess['runs']): Policy[] {
  const actions = (access === 'step' ? STEP_ACTIONS : access).map((action) => `dynamodb:${action}`);
  const Condition = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['@migration', '@migration#*'] },
  };
  return [policy('migration-runs', [{ ...allow(actions, [substitute(TABLE_ARN)]), Condition }])];
}

const SECRET_REFERENCE = '/aws/reference/secretsmanager/';

export function secretPolicies(parameters: readonly string[]): Policy[] {
  if (parameters.length === 0) return [];
  const secrets = parameters
    .filter((parameter) => parameter.startsWith(SECRET_REFERENCE))
    .map((parameter) => toSecretArn(parameter.slice(SECRET_REFERENCE.length)));
  return [
    policy('secrets', [
      allow(['ssm:GetParameter'], parameters.map(toParameterArn)),
      ...(secrets.length > 0 ? [allow(['secretsmanager:GetSecretValue'], secrets)] : []),
    ]),
  ];
}

/** A function that changes the setting also reads the previous version, under the parameter's name, ":" and a number. */
export function settingPolicies(parameter: string, access: MigrationAccess['setting']): Policy[] {
  if (!access) return [];
  const arn = toParameterArn(parameter);
  if (access === 'read')
    return [policy('collection-setting', [allow(['ssm:GetParameter'], [arn])])];
  return [
    policy('collection-setting', [
      allow(['ssm:GetParameter'], [arn, toParameterArn(`${parameter}:*`)]),
      allow(['ssm:PutParameter'], [arn]),
    ]),
  ];
}

const READ = {
  objects: ['GetObject', 'GetObjectTagging', 'GetObjectRetention'],
  bucket: ['ListBucket'],
};
const WRITE = {
  objects: ['PutObject', 'PutObjectTagging', 'AbortMultipartUpload'],
  bucket: ['ListBucketMultipartUploads'],
};
// Deletes versions: a delete marker would leave the contents in place.
const REPLACE = {
  objects: ['DeleteObjectVersion'],
  bucket: ['ListBucketVersions'],
};
const RETAIN = {
  objects: ['PutObjectRetention'],
  bucket: ['GetBucketObjectLockConfiguration'],
};

// Permissions that each value of `artifacts` in migrationAccess stands for
const ARTIFACT_ACCESS = {
  read: [READ],
  write: [READ, WRITE],
  replace: [READ, WRITE, REPLACE],
  retain: [READ, WRITE, RETAIN],
  all: [READ, WRITE, REPLACE, RETAIN],
};

/** Covers objects below the prefix of the artifacts' URL. */
export function artifactPolicies(
  artifactsUrl: string,
  access: MigrationAccess['artifacts'],
): Policy[] {
  if (!access || artifactsUrl === '') return [];
  const { host, pathname } = new URL(artifactsUrl);
  const prefix = pathname.replace(/^\/+|\/+$/g, '');
  const rights = ARTIFACT_ACCESS[access];
  const objects = rights.flatMap(({ objects }) => objects);
  const bucket = rights.flatMap(({ bucket }) => bucket);
  const arn = `arn:\${AWS::Partition}:s3:::${host}`;
  // A bucket of this name could belong to another account.
  const Condition = { StringEquals: { 'aws:ResourceAccount': { Ref: 'AWS::AccountId' } } };
  return [
    policy('artifacts', [
      { ...allow(objects.map(toS3Action), [substitute(`${arn}/${prefix}/*`)]), Condition },
      { ...allow(bucket.map(toS3Action), [substitute(arn)]), Condition },
    ]),
  ];
}

function toS3Action(action: string): string {
  return `s3:${action}`;
}

function toParameterArn(name: string): object {
  return substitute(`arn:\${AWS::Partition}:ssm:${ACCOUNT}:parameter/${name.replace(/^\//, '')}`);
}

// Secrets Manager appends six random characters to the name.
function toSecretArn(name: string): object {
  return substitute(`arn:\${AWS::Partition}:secretsmanager:${ACCOUNT}:secret:${name}-??????`);
}
