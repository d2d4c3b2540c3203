// Finds the database for a command, whether `npm start` is running or not.
import { existsSync } from 'node:fs';
import { UserError } from '../lib/shared/user-error.ts';
import { FolderInUseError, openDataFolder } from '../local/data-folder.ts';
import { startDatabase } from '../local/engine.ts';
import { DEFAULT_REGION, useLocalAccess } from '../local/local-access.ts';
import { readLocalSettings } from '../local/settings.ts';
import type { Resources } from '../processes/resources.ts';
import { readStackOutput, stackName } from './deployed-stack.ts';

export interface DatabaseLocation {
  /** Undefined for DynamoDB in the AWS region. */
  readonly endpoint: string | undefined;
  readonly tableName: string;
}

/** Finds the database of a deployed stage or, without a stage, the local one. @throws UserError if there is none */
export async function findLedgerDatabase(
  resources: Resources,
  stage: string | undefined,
): Promise<DatabaseLocation> {
  return stage
    ? await findStageDatabase(stage, process.env)
    : await findLocalDatabase(resources, process.env);
}

/**
 * Finds the database at DYNAMODB_ENDPOINT or, if it is not set, the database of the data folder. If `npm start` is not running
 * that database, starts it for the duration of the command. Never connects to AWS.
 * @throws UserError if there is no database
 */
export async function findLocalDatabase(
  resources: Resources,
  environment: NodeJS.ProcessEnv,
): Promise<DatabaseLocation> {
  const { databaseEndpoint, dataFolder, tableName } = readLocalSettings(environment);
  useLocalAccess(environment);
  return {
    endpoint: databaseEndpoint ?? (await openLocalDatabase(resources, dataFolder)),
    tableName,
  };
}

/**
 * Finds the table that a deployed stage uses or, if TABLE_NAME is set, that table (such as a restored one) in the same AWS
 * account. The stage's table is read from the stack, because a restore gives the stage another table: a key revoked in the old
 * table would still work.
 * @throws UserError if DYNAMODB_ENDPOINT is set, or the stack names no table
 */
export async function findStageDatabase(
  stage: string,
  environment: NodeJS.ProcessEnv,
): Promise<DatabaseLocation> {
  if (environment.DYNAMODB_ENDPOINT) {
    throw new UserError('--stage reads from AWS. Unset DYNAMODB_ENDPOINT, or leave --stage out.');
  }
  environment.AWS_REGION ||= DEFAULT_REGION;
  return {
    endpoint: undefined,
    tableName: environment.TABLE_NAME || (await readStageTable(stage)),
  };
}

async function readStageTable(stage: string): Promise<string> {
  const stack = stackName(stage);
  const tableName = await readStackOutput(stage, 'TableName').catch((error: unknown) => {
    throw explainError(error, { endpoint: undefined, tableName: stack });
  });
  if (tableName !== undefined) return tableName;
  throw new UserError(
    `The stack ${stack} does not name the table in use: an earlier release deployed it. Deploy it again, or set TABLE_NAME.`,
  );
}

/**
 * Like `findLocalDatabase`, except that DynamoDB in the AWS region is used if TABLE_NAME is set without DATA_DIR and
 * DYNAMODB_ENDPOINT: the migration keeps its run records there.
 * @throws UserError if there is no database
 */
export async function findDatabase(
  resources: Resources,
  environment: NodeJS.ProcessEnv,
): Promise<DatabaseLocation> {
  const { databaseEndpoint, tableName } = readLocalSettings(environment);
  if (!databaseEndpoint && environment.TABLE_NAME && !environment.DATA_DIR) {
    return { endpoint: undefined, tableName };
  }
  return await findLocalDatabase(resources, environment);
}

/** Runs `work`, and turns a failure of the database into an error that says what to do. */
export async function explainFailures<Result>(
  database: DatabaseLocation,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explainError(error, database);
  }
}

function explainError(error: unknown, { endpoint, tableName }: DatabaseLocation): unknown {
  const { name, code } = error as NodeJS.ErrnoException;
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, AWS_REGION } = process.env;
  const address = endpoint || AWS_ENDPOINT_URL_DYNAMODB || AWS_ENDPOINT_URL || 'AWS';
  const where = `${address}, region ${AWS_REGION}`;
  if (name === 'ValidationError') {
    return new UserError(
      `CloudFormation at ${where} does not know ${tableName}: ${(error as Error).message}. Check the stage, AWS_REGION and the account.`,
    );
  }
  if (name === 'ResourceNotFoundException') {
    const settings = endpoint
      ? 'DYNAMODB_ENDPOINT, TABLE_NAME, AWS_REGION and AWS_ACCESS_KEY_ID'
      : 'the stage, TABLE_NAME, AWS_REGION and the account';
    return new UserError(`The table ${tableName} does not exist at ${where}. Check ${settings}.`);
  }
  if (name === 'CredentialsProviderError') {
    return new UserError(
      `There are no AWS credentials for the table ${tableName} at ${where}. Log in and export AWS_PROFILE, then check with "aws sts get-caller-identity".`,
    );
  }
  if (code !== undefined) {
    const settings = endpoint ? 'DYNAMODB_ENDPOINT' : 'AWS_ENDPOINT_URL and AWS_REGION';
    return new UserError(
      `The database at ${where} cannot be reached: ${code}. Check ${settings}, then repeat the command.`,
    );
  }
  return error;
}

async function openLocalDatabase(
  resources: Resources,
  folder: string | undefined,
): Promise<string> {
  if (folder === undefined) {
    throw new UserError(
      'With DATA_DIR=memory, a command finds the database only by its address. Set DYNAMODB_ENDPOINT to the address that "npm start" prints after "table finance-ledger-local at".',
    );
  }
  if (!existsSync(folder)) {
    throw new UserError(
      `The data folder ${folder} does not exist. Create it, or set DATA_DIR to another folder, or set DYNAMODB_ENDPOINT.`,
    );
  }
  try {
    const { path, release } = openDataFolder(folder);
    resources.onStop(release);
    return (await startDatabase(resources, path)).endpoint;
  } catch (error) {
    if (error instanceof FolderInUseError && error.endpoint) return error.endpoint;
    throw error;
  }
}
