// A deployed stage and its tables, as far as a restore reads and changes them. Every call can be repeated.
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
import { stackName } from '../deployed-stack.ts';

export type StageOnAws = ReturnType<typeof createStageOnAws>;

export interface StackState {
  readonly tableInUse: string;
  /** CloudFormation's, such as `UPDATE_COMPLETE`. */
  readonly status: string;
}

export interface Recovery {
  readonly earliest: Date | undefined;
  readonly latest: Date | undefined;
  readonly days: number | undefined;
  readonly isOn: boolean;
}

const PARAMETER = 'TableInUse';
const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

export function createStageOnAws(stage: string) {
  const region = process.env.AWS_REGION || DEFAULT_REGION;
  const StackName = stackName(stage);
  const cloudFormation = new CloudFormationClient({ region });
  const lambda = new LambdaClient({ region });
  const dynamodb = new DynamoDBClient({ region });

  /** @throws UserError for a stack of a release that did not know which table is in use */
  async function readStack(): Promise<StackState> {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
    const { Parameters = [], StackStatus = '' } = Stacks[0] ?? {};
    const named = Parameters.find(({ ParameterKey }) => ParameterKey === PARAMETER);
    if (named?.ParameterValue === undefined) {
      throw new UserError(
        `The stack ${StackName} has no parameter ${PARAMETER}: an earlier release deployed it. Deploy the stage with this one first.`,
      );
    }
    return { tableInUse: named.ParameterValue, status: StackStatus };
  }

  /** Names of the functions whose roles may write ledgers. */
  async function listWriters(): Promise<string[]> {
    const template = new GetTemplateCommand({ StackName });
    const { TemplateBody = '{}' } = await cloudFormation.send(template);
    return findWriters(JSON.parse(TemplateBody));
  }

  async function areWritesStopped(FunctionName: string): Promise<boolean> {
    const command = new GetFunctionConcurrencyCommand({ FunctionName });
    return (await lambda.send(command)).ReservedConcurrentExecutions === 0;
  }

  async function stopWrites(FunctionName: string): Promise<void> {
    const command = { FunctionName, ReservedConcurrentExecutions: 0 };
    await lambda.send(new PutFunctionConcurrencyCommand(command));
  }

  async function allowWrites(FunctionName: string): Promise<void> {
    await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  }

  /** The table of the version that requests reach, or of the function itself if its release had no aliases yet. */
  async function readTableOf(FunctionName: string): Promise<string | undefined> {
    const read = async (given: { readonly Qualifier?: string }) => {
      const command = new GetFunctionConfigurationCommand({ FunctionName, ...given });
      return (await lambda.send(command)).Environment?.Variables?.TABLE_NAME;
    };
    try {
      return await read({ Qualifier: ALIAS });
    } catch (error) {
      if ((error as Error).name !== 'ResourceNotFoundException') throw error;
      return await read({});
    }
  }

  async function describeTable(TableName: string): Promise<TableDescription | undefined> {
    try {
      return (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table;
    } catch (error) {
      if ((error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  async function readRecovery(TableName: string): Promise<Recovery> {
    const { ContinuousBackupsDescription } = await dynamodb.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    const described = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
    return {
      earliest: described?.EarliestRestorableDateTime,
      latest: described?.LatestRestorableDateTime,
      days: described?.RecoveryPeriodInDays,
      isOn: described?.PointInTimeRecoveryStatus === 'ENABLED',
    };
  }

  async function restore(source: string, target: string, time: Date): Promise<void> {
    await dynamodb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        RestoreDateTime: time,
      }),
    );
  }

  async function protectFromDeletion(TableName: string): Promise<void> {
    const command = { TableName, DeletionProtectionEnabled: true };
    await dynamodb.send(new UpdateTableCommand(command));
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
    await dynamodb.send(new UpdateTableCommand(command));
  }

  async function switchRecoveryOn(TableName: string, days: number | undefined): Promise<void> {
    await dynamodb.send(
      new UpdateContinuousBackupsCommand({
        TableName,
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          ...(days !== undefined && { RecoveryPeriodInDays: days }),
        },
      }),
    );
  }

  async function doItemsExpire(TableName: string): Promise<boolean> {
    const command = new DescribeTimeToLiveCommand({ TableName });
    const { TimeToLiveDescription } = await dynamodb.send(command);
    return ['ENABLED', 'ENABLING'].includes(TimeToLiveDescription?.TimeToLiveStatus ?? '');
  }

  async function letItemsExpire(TableName: string): Promise<void> {
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await dynamodb.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }

  async function readTags(ResourceArn: string): Promise<ReadonlyMap<string, string>> {
    const { Tags = [] } = await dynamodb.send(new ListTagsOfResourceCommand({ ResourceArn }));
    return new Map(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
  }

  async function addTags(ResourceArn: string, tags: ReadonlyMap<string, string>): Promise<void> {
    const Tags = [...tags].map(([Key, Value]) => ({ Key, Value }));
    await dynamodb.send(new TagResourceCommand({ ResourceArn, Tags }));
  }

  /**
   * Keeps the template and changes only the name of the table. No alarm may undo this: alarms fire while writes are stopped,
   * and a rollback would return to the damaged table.
   */
  async function useTable(tableName: string): Promise<void> {
    await cloudFormation.send(
      new UpdateStackCommand({
        StackName,
        UsePreviousTemplate: true,
        Parameters: [{ ParameterKey: PARAMETER, ParameterValue: tableName }],
        Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
        RollbackConfiguration: { RollbackTriggers: [], MonitoringTimeInMinutes: 0 },
      }),
    );
  }

  return {
    stackName: StackName,
    client: createDocumentClient(),
    ...{ readStack, useTable, listWriters, areWritesStopped, stopWrites, readTableOf, allowWrites },
    ...{ describeTable, readRecovery, restore, protectFromDeletion, limitThroughput },
    ...{ switchRecoveryOn, doItemsExpire, letItemsExpire, readTags, addTags },
  };
}

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly FunctionName?: string;
    readonly Role?: { readonly 'Fn::GetAtt'?: readonly string[] };
    readonly Policies?: readonly {
      readonly PolicyName: string;
      readonly PolicyDocument: { readonly Statement: readonly { readonly Action: string[] }[] };
    }[];
  };
}

/** @internal A test applies it to the packaged template, to show that no function is missed. */
export function findWriters({
  Resources = {},
}: {
  readonly Resources?: Readonly<Record<string, Resource>>;
}): string[] {
  return Object.values(Resources).flatMap(({ Type, Properties }) => {
    const [role = ''] = Properties?.Role?.['Fn::GetAtt'] ?? [];
    const policies = Resources[role]?.Properties.Policies ?? [];
    const actions = policies
      .filter(({ PolicyName }) => PolicyName === 'ledger-table')
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .flatMap(({ Action }) => Action);
    const isWriter = Type === 'AWS::Lambda::Function' && actions.some((a) => WRITES.includes(a));
    return isWriter && Properties.FunctionName ? [Properties.FunctionName] : [];
  });
}
