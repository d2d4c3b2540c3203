// The AWS calls that a restore uses to read and change a deployed stage and its tables. Every call can be repeated.
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  type OnDemandThroughput,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import { DEFAULT_REGION } from '../../local/local-access.ts';
import { ALIAS } from '../../serverless/ledger/gradual-release.ts';
import { mayWriteLedgers, type Policy } from '../../serverless/roles.ts';
import { stackName } from '../deployed-stack.ts';

export type StageOnAws = ReturnType<typeof createStageOnAws>;

export interface StackState {
  readonly tableInUse: string;
  /** CloudFormation's status of the stack, such as `UPDATE_COMPLETE`. */
  readonly status: string;
}

export interface PointInTimeRecovery {
  readonly earliest: Date | undefined;
  readonly latest: Date | undefined;
  readonly days: number | undefined;
  readonly isOn: boolean;
}

const TABLE_PARAMETER = 'TableInUse';

export function createStageOnAws(stage: string) {
  const region = process.env.AWS_REGION || DEFAULT_REGION;
  const name = stackName(stage);
  return {
    stackName: name,
    client: createDocumentClient(),
    ...createStack(name, region),
    ...createWriters(region),
    ...createTables(region),
  };
}

/** The stack of the stage, which names the table in use. */
function createStack(StackName: string, region: string) {
  const client = new CloudFormationClient({ region });

  /** @throws UserError for a stack of an earlier release, which does not say which table is in use */
  async function readStack(): Promise<StackState> {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const { Parameters = [], StackStatus = '' } = Stacks[0] ?? {};
    const parameter = Parameters.find(({ ParameterKey }) => ParameterKey === TABLE_PARAMETER);
    if (parameter?.ParameterValue === undefined) {
      throw new UserError(
        `The stack ${StackName} has no parameter ${TABLE_PARAMETER}: an earlier release deployed it. Deploy the stage with this release first.`,
      );
    }
    return { tableInUse: parameter.ParameterValue, status: StackStatus };
  }

  /**
   * Keeps the template and changes only the name of the table. Rollback triggers are switched off: alarms fire while writes are
   * stopped, and a rollback would return to the damaged table.
   */
  async function useTable(tableName: string): Promise<void> {
    await client.send(
      new UpdateStackCommand({
        StackName,
        UsePreviousTemplate: true,
        Parameters: [{ ParameterKey: TABLE_PARAMETER, ParameterValue: tableName }],
        Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
        RollbackConfiguration: { RollbackTriggers: [], MonitoringTimeInMinutes: 0 },
      }),
    );
  }

  /** Lists the names of the functions whose roles may write ledgers. */
  async function listWriters(): Promise<string[]> {
    const template = new GetTemplateCommand({ StackName });
    const { TemplateBody = '{}' } = await client.send(template);
    return findWriters(JSON.parse(TemplateBody));
  }

  return { readStack, useTable, listWriters };
}

/** Stops the writes of the stage's functions, and allows them again. A reserved concurrency of zero stops a function. */
function createWriters(region: string) {
  const client = new LambdaClient({ region });

  async function areWritesStopped(FunctionName: string): Promise<boolean> {
    const command = new GetFunctionConcurrencyCommand({ FunctionName });
    return (await client.send(command)).ReservedConcurrentExecutions === 0;
  }

  async function stopWrites(FunctionName: string): Promise<void> {
    const command = { FunctionName, ReservedConcurrentExecutions: 0 };
    await client.send(new PutFunctionConcurrencyCommand(command));
  }

  async function allowWrites(FunctionName: string): Promise<void> {
    await client.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  }

  /**
   * Returns the table of the version that requests reach, or of the function itself if an earlier release deployed it without
   * an alias.
   */
  async function readFunctionTable(FunctionName: string): Promise<string | undefined> {
    const read = async (version: { readonly Qualifier?: string }) => {
      const command = new GetFunctionConfigurationCommand({ FunctionName, ...version });
      return (await client.send(command)).Environment?.Variables?.TABLE_NAME;
    };
    try {
      return await read({ Qualifier: ALIAS });
    } catch (error) {
      if ((error as Error).name !== 'ResourceNotFoundException') throw error;
      return await read({});
    }
  }

  return { areWritesStopped, stopWrites, allowWrites, readFunctionTable };
}

/** Reads, restores and changes tables, including the settings that a restore does not carry over. */
function createTables(region: string) {
  const client = new DynamoDBClient({ region });

  async function describeTable(TableName: string): Promise<TableDescription | undefined> {
    try {
      return (await client.send(new DescribeTableCommand({ TableName }))).Table;
    } catch (error) {
      if ((error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  async function restore(source: string, target: string, time: Date): Promise<void> {
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        RestoreDateTime: time,
      }),
    );
  }

  async function readRecovery(TableName: string): Promise<PointInTimeRecovery> {
    const { ContinuousBackupsDescription } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
    return {
      earliest: recovery?.EarliestRestorableDateTime,
      latest: recovery?.LatestRestorableDateTime,
      days: recovery?.RecoveryPeriodInDays,
      isOn: recovery?.PointInTimeRecoveryStatus === 'ENABLED',
    };
  }

  async function enableRecovery(TableName: string, days: number | undefined): Promise<void> {
    await client.send(
      new UpdateContinuousBackupsCommand({
        TableName,
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          ...(days !== undefined && { RecoveryPeriodInDays: days }),
        },
      }),
    );
  }

  async function protectFromDeletion(TableName: string): Promise<void> {
    const command = { TableName, DeletionProtectionEnabled: true };
    await client.send(new UpdateTableCommand(command));
  }

  async function limitThroughput(
    TableName: string,
    OnDemandThroughput: OnDemandThroughput,
    indexes: readonly string[],
  ): Promise<void> {
    const GlobalSecondaryIndexUpdates = indexes.map((IndexName) => ({
      Update: { IndexName, OnDemandThroughput },
    }));
    const command = { TableName, OnDemandThroughput, GlobalSecondaryIndexUpdates };
    await client.send(new UpdateTableCommand(command));
  }

  async function isExpiryOn(TableName: string): Promise<boolean> {
    const command = new DescribeTimeToLiveCommand({ TableName });
    const { TimeToLiveDescription } = await client.send(command);
    return ['ENABLED', 'ENABLING'].includes(TimeToLiveDescription?.TimeToLiveStatus ?? '');
  }

  async function enableExpiry(TableName: string): Promise<void> {
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }

  async function readTags(ResourceArn: string): Promise<ReadonlyMap<string, string>> {
    const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn }));
    return new Map(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
  }

  async function addTags(ResourceArn: string, tags: ReadonlyMap<string, string>): Promise<void> {
    const Tags = [...tags].map(([Key, Value]) => ({ Key, Value }));
    await client.send(new TagResourceCommand({ ResourceArn, Tags }));
  }

  return {
    describeTable,
    restore,
    readRecovery,
    enableRecovery,
    protectFromDeletion,
    limitThroughput,
    isExpiryOn,
    enableExpiry,
    readTags,
    addTags,
  };
}

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly FunctionName?: string;
    readonly Role?: { readonly 'Fn::GetAtt'?: readonly string[] };
    readonly Policies?: readonly Policy[];
  };
}

/**
 * Finds the functions in a template whose roles may write ledgers.
 * @internal A test applies this to the packaged template, to show that no function is missed.
 */
export function findWriters({
  Resources = {},
}: {
  readonly Resources?: Readonly<Record<string, Resource>>;
}): string[] {
  return Object.values(Resources).flatMap(({ Type, Properties }) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const [role = ''] = Properties.Role?.['Fn::GetAtt'] ?? [];
    const policies = Resources[role]?.Properties.Policies ?? [];
    return Properties.FunctionName && mayWriteLedgers(policies) ? [Properties.FunctionName] : [];
  });
}
