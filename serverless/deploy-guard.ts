// A plugin of Serverless Framework that refuses a deployment, rollback or removal that could hurt a migration or the data, and
// parameters that would break the stage. serverless/deploy-rules.ts decides; this file reads the deployed template, and the
// state of the table and of a run.
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hasEnded } from '../lib/migration/phases.ts';
import { LOCK_KEY, recordKey } from '../lib/migration/runs/run-lock.ts';
import {
  createRollbackConfiguration,
  isGradual,
  NO_ROLLBACK,
  RELEASE_PARAMETER,
  type RollbackConfiguration,
} from './deploy-rollback.ts';
import { type ActiveRun, listRefusalReasons, mayHaveRuns, type Situation } from './deploy-rules.ts';
import { findFaults, type Parameters } from './parameters.ts';
import { TABLE_IN_USE } from './table.ts';
import type { Template } from './template.ts';

interface StackParameter {
  readonly ParameterKey: string;
  readonly ParameterValue: string;
}

/** The part of the resolved serverless.yml that the plugin uses. */
interface Service {
  readonly service: string;
  readonly custom: { readonly deployDuringRun: string; readonly rollbackMinutes: string };
  readonly provider: {
    readonly environment: Record<string, string>;
    /** Known once the service is packaged. */
    readonly compiledCloudFormationTemplate: Template;
    rollbackConfiguration?: RollbackConfiguration;
    stackParameters?: readonly StackParameter[];
  };
  readonly functions: Readonly<
    Record<string, { readonly environment?: object; readonly reservedConcurrency?: number }>
  >;
  readonly resources: Template;
  readonly initialServerlessConfig: {
    /** Parameters by stage; `default` has those of every stage. */
    readonly params: Readonly<Record<string, Parameters>>;
  };
}

/** The parts of the template that the guard reads, before the service is packaged. */
export function planTemplate({ functions, provider, resources }: Service): Template {
  const functionResources = Object.entries(functions).map(
    ([name, { environment, reservedConcurrency }]) => {
      const Environment = { Variables: { ...provider.environment, ...environment } };
      const Properties = { Environment, ReservedConcurrentExecutions: reservedConcurrency };
      return [name, { Type: 'AWS::Lambda::Function', Properties }] as const;
    },
  );
  return { Resources: { ...resources.Resources, ...Object.fromEntries(functionResources) } };
}

/** The part of Serverless Framework that the plugin uses. */
interface Serverless {
  readonly service: Service;
  readonly processedInput: { readonly commands: readonly string[] };
  readonly classes: { readonly Error: new (message: string, code: string) => Error };
  getProvider(name: 'aws'): Provider;
}

interface Provider {
  readonly naming: { getStackName(): string; getCompiledTemplateS3Suffix(): string };
  getStage(): string;
  getRegion(): string;
  getAccountInfo(): Promise<{ readonly accountId: string; readonly partition: string }>;
  getDeploymentPrefix(): string;
  getServerlessDeploymentBucketName(): Promise<string>;
  getAwsSdkV3Config(): Promise<object>;
}

interface Log {
  notice(line: string): void;
}

interface Options {
  readonly timestamp?: string;
  readonly package?: string;
  /** Command-line parameters: `name=value`. */
  readonly param?: readonly string[];
}

export class DeployGuard {
  readonly commands = {
    'discard-table': {
      usage: 'Delete the empty table that a first deployment left behind when it failed',
      lifecycleEvents: ['discard'],
    },
  };
  readonly hooks = {
    initialize: async () => {
      // Read here, because `deploy --package` later replaces the settings with those of the package, which may accept an
      // earlier run.
      this.#acceptedRun = this.#serverless.service.custom.deployDuringRun;
      this.#rollbackMinutes = this.#serverless.service.custom.rollbackMinutes;
      await this.#checkBeforePackaging();
    },
    // Checked again: a run may have started meanwhile, and `--package` names another template.
    'before:deploy:deploy': async () => {
      await this.#check({ next: this.#readCompiledTemplate() });
      const deployed = await this.#readDeployedTemplate();
      const next = this.#readCompiledTemplate();
      const rollback = await this.#planRollback({ deployed, next });
      this.#serverless.service.provider.rollbackConfiguration = rollback;
      const gradualParameter = { ParameterKey: RELEASE_PARAMETER, ParameterValue: 'gradual' };
      this.#serverless.service.provider.stackParameters = [
        ...(await this.#listTableParameters()),
        ...(isGradual({ deployed, next, rollback }) ? [gradualParameter] : []),
      ];
    },
    'before:deploy:function:initialize': () => {
      throw this.#createRefusal([
        '"deploy function" changes the code but not its settings. Use "deploy".',
      ]);
    },
    'after:package:finalize': () =>
      removeTemporaryFolders(Object.keys(this.#serverless.service.functions)),
    'before:rollback:rollback': async () => {
      await this.#checkRollback();
      // Without alarms: those that already fire are the reason for this rollback.
      this.#serverless.service.provider.rollbackConfiguration = NO_ROLLBACK;
      this.#serverless.service.provider.stackParameters = await this.#listTableParameters();
    },
    'before:remove:remove': () => this.#check({ next: undefined }),
    'discard-table:discard': () => this.#discardTable(),
  };

  readonly #serverless: Serverless;
  readonly #options: Options;
  readonly #log: Log;
  /** The active run during which the operator deploys anyway. */
  #acceptedRun = '';
  #rollbackMinutes = '0';

  constructor(serverless: Serverless, options: Options, { log }: { readonly log: Log }) {
    this.#serverless = serverless;
    this.#log = log;
    this.#options = options;
    // Checked here, because Serverless Framework resolves the values that use the parameters next.
    this.#checkParameters();
  }

  get #provider(): Provider {
    return this.#serverless.getProvider('aws');
  }

  get #ownTable(): string {
    return `${this.#serverless.service.service}-${this.#provider.getStage()}`;
  }

  #readCompiledTemplate(): Template {
    return this.#serverless.service.provider.compiledCloudFormationTemplate;
  }

  #checkParameters(): void {
    const { default: common, ...stages } = this.#serverless.service.initialServerlessConfig.params;
    const stage = this.#provider.getStage();
    const names = Object.keys(stages);
    if (!names.includes(stage)) {
      throw this.#createRefusal([
        `The stage ${stage} is not described under "params" of serverless.yml, which has ${names.join(', ')}.`,
      ]);
    }
    const commandLineParameters = (this.#options.param ?? []).map((text) => {
      const [name = '', ...value] = text.split('=');
      return [name, value.join('=').trimEnd()] as const;
    });
    const parameters = {
      ...common,
      ...stages[stage],
      ...Object.fromEntries(commandLineParameters),
    };
    const faults = findFaults(stage, parameters);
    if (faults.length > 0) throw this.#createRefusal([faults.join('\n')]);
  }

  async #checkBeforePackaging(): Promise<void> {
    const { processedInput, service } = this.#serverless;
    const isDeployment = processedInput.commands.join(' ') === 'deploy';
    if (isDeployment && this.#options.package === undefined) {
      await this.#check({ next: planTemplate(service) });
    }
  }

  async #check({ next }: { next: Template | undefined }) {
    const deployed = await this.#readDeployedTemplate();
    const mayHaveActiveRun = mayHaveRuns(deployed, next);
    const tableInUse = deployed && mayHaveActiveRun ? await this.#readTableInUse() : undefined;
    const reasons = listRefusalReasons({
      deployed,
      next,
      // Without deployed functions no run can be active: the table may be missing.
      run: mayHaveActiveRun
        ? await this.#readActiveRun(tableInUse ?? this.#ownTable, tableInUse === undefined)
        : undefined,
      table: await this.#readTableState(deployed),
      acceptedRun: this.#acceptedRun,
    });
    if (reasons.length > 0) throw this.#createRefusal(reasons);
  }

  async #checkRollback(): Promise<void> {
    const { timestamp } = this.#options;
    // Without a timestamp the command only lists existing deployments.
    if (timestamp !== undefined) {
      await this.#check({ next: await this.#readEarlierTemplate(timestamp) });
    }
  }

  #createRefusal(reasons: readonly string[]): Error {
    const { classes } = this.#serverless;
    return new classes.Error(`Refused. ${reasons.join(' ')}`, 'DEPLOYMENT_REFUSED');
  }

  async #readDeployedTemplate(): Promise<Template | undefined> {
    const { CloudFormationClient, GetTemplateCommand } = await import(
      '@aws-sdk/client-cloudformation'
    );
    const client = new CloudFormationClient(await this.#provider.getAwsSdkV3Config());
    const StackName = this.#provider.naming.getStackName();
    try {
      const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName }));
      return JSON.parse(TemplateBody ?? '');
    } catch (error) {
      if (isMissingStack(error)) return undefined;
      throw error;
    }
  }

  /** Keeps a restored table in use: without this parameter, CloudFormation would return to the table that the template names. */
  async #listTableParameters(): Promise<StackParameter[]> {
    const ParameterValue = await this.#readTableInUse();
    return ParameterValue === undefined ? [] : [{ ParameterKey: TABLE_IN_USE.Ref, ParameterValue }];
  }

  /** Undefined if nothing is deployed, and after a first deployment that failed. */
  async #readTableInUse(): Promise<string | undefined> {
    const { CloudFormationClient, DescribeStacksCommand } = await import(
      '@aws-sdk/client-cloudformation'
    );
    const client = new CloudFormationClient(await this.#provider.getAwsSdkV3Config());
    const StackName = this.#provider.naming.getStackName();
    try {
      const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
      const { Parameters = [] } = Stacks[0] ?? {};
      return Parameters.find(({ ParameterKey }) => ParameterKey === TABLE_IN_USE.Ref)
        ?.ParameterValue;
    } catch (error) {
      if (isMissingStack(error)) return undefined;
      throw error;
    }
  }

  async #planRollback(templates: {
    readonly deployed: Template | undefined;
    readonly next: Template;
  }): Promise<RollbackConfiguration> {
    const minutes = Number(this.#rollbackMinutes);
    if (minutes === 0) return NO_ROLLBACK;
    const { accountId, partition } = await this.#provider.getAccountInfo();
    const arnPrefix = `arn:${partition}:cloudwatch:${this.#provider.getRegion()}:${accountId}`;
    return createRollbackConfiguration({
      ...templates,
      minutes,
      toArn: (name) => `${arnPrefix}:alarm:${name}`,
    });
  }

  async #readEarlierTemplate(timestamp: string): Promise<Template> {
    const { S3Client, GetObjectCommand } = await import('@aws-sdk/client-s3');
    const client = new S3Client(await this.#provider.getAwsSdkV3Config());
    const { naming } = this.#provider;
    const time = new Date(/^\d+$/.test(timestamp) ? Number(timestamp) : timestamp);
    const notFound = this.#createRefusal([
      `There is no deployment with the timestamp "${timestamp}". "npx serverless deploy list" shows the timestamps.`,
    ]);
    if (Number.isNaN(time.getTime())) throw notFound;
    const folder = [
      this.#provider.getDeploymentPrefix(),
      this.#serverless.service.service,
      this.#provider.getStage(),
      `${time.getTime()}-${time.toISOString()}`,
    ];
    const template = new GetObjectCommand({
      Bucket: await this.#provider.getServerlessDeploymentBucketName(),
      Key: [...folder, naming.getCompiledTemplateS3Suffix()].join('/'),
    });
    const { Body } = await client.send(template).catch((error: Error) => {
      throw error.name === 'NoSuchKey' ? notFound : error;
    });
    return JSON.parse(await text(Body as Readable));
  }

  async #readActiveRun(tableName: string, mayBeMissing: boolean): Promise<ActiveRun | undefined> {
    const { DynamoDBClient, GetItemCommand } = await import('@aws-sdk/client-dynamodb');
    const { marshall, unmarshall } = await import('@aws-sdk/util-dynamodb');
    const client = new DynamoDBClient(await this.#provider.getAwsSdkV3Config());
    const read = async (key: object) => {
      const input = { TableName: tableName, Key: marshall(key), ConsistentRead: true };
      const { Item } = await client.send(new GetItemCommand(input));
      return Item && unmarshall(Item);
    };
    try {
      const lock = await read(LOCK_KEY);
      // A live run holds no lock, and still needs its watchdog.
      const id = lock?.active_run || lock?.live_runs?.at(-1);
      if (!id) return undefined;
      const phase = (await read(recordKey(id)))?.phase;
      return hasEnded(phase) ? undefined : { id, phase };
    } catch (error) {
      const { name, message } = error as Error;
      if (name === 'ResourceNotFoundException' && mayBeMissing) return undefined;
      return { whyUnreadable: `the table ${tableName} cannot be read (${name}: ${message})` };
    }
  }

  async #readTableState(deployed: Template | undefined): Promise<Situation['table']> {
    if (deployed?.Resources.LedgerTable) return 'part of the stack';
    const { DynamoDBClient, ScanCommand } = await import('@aws-sdk/client-dynamodb');
    const client = new DynamoDBClient(await this.#provider.getAwsSdkV3Config());
    try {
      const input = { TableName: this.#ownTable, Limit: 1, ConsistentRead: true } as const;
      // A deployer may count the items of a table, but not read them.
      const { Count } = await client.send(new ScanCommand({ ...input, Select: 'COUNT' }));
      return Count === 0 ? 'left over, empty' : 'left over, with data';
    } catch (error) {
      if ((error as Error).name === 'ResourceNotFoundException') return 'absent';
      throw error;
    }
  }

  async #discardTable(): Promise<void> {
    const state = await this.#readTableState(await this.#readDeployedTemplate());
    const TableName = this.#ownTable;
    if (state !== 'left over, empty') {
      throw this.#createRefusal([
        `The table ${TableName} is ${state}; only an empty table that is left over is deleted.`,
      ]);
    }
    const { DeleteTableCommand, DynamoDBClient, UpdateTableCommand, waitUntilTableNotExists } =
      await import('@aws-sdk/client-dynamodb');
    const client = new DynamoDBClient(await this.#provider.getAwsSdkV3Config());
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await client.send(new DeleteTableCommand({ TableName }));
    await waitUntilTableNotExists({ client, maxWaitTime: 300 }, { TableName });
    this.#log.notice(`Deleted the table ${TableName}, which was left over and empty.`);
  }
}

function isMissingStack(error: unknown): boolean {
  return error instanceof Error && /does not exist/.test(error.message);
}

/**
 * Removes the folders that serverless-esbuild leaves, one for each function. A name has the function, the process, the time,
 * and a random number.
 */
async function removeTemporaryFolders(functions: readonly string[]): Promise<void> {
  const pattern = new RegExp(`^(${functions.join('|')})-${process.pid}-\\d+-[0-9a-f]{8}$`);
  const folders = (await readdir(tmpdir())).filter((name) => pattern.test(name));
  await Promise.all(folders.map((name) => rm(join(tmpdir(), name), { recursive: true })));
}

// Serverless Framework loads this file, and calls the export of this name.
export { DeployGuard as 'module.exports' };
