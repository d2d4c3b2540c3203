// The plug-in of serverless/deploy-guard.ts, with a stand-in for Serverless Framework and for AWS.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { MIGRATING } from '../../../local/emulator/migrating-parameters.ts';
import { DeployGuard } from '../../../serverless/deploy-guard.ts';

export interface AwsRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

type AwsResponse = readonly [status: number, text: string];

export interface GuardSpec {
  readonly command?: string;
  readonly stage?: string;
  readonly options?: {
    readonly timestamp?: string;
    readonly package?: string;
    readonly param?: readonly string[];
  };
  /** Settings of an otherwise empty service, evaluated each time that the guard reads the service */
  readonly service?: () => object;
  /** Responds to calls to AWS; without it, any such call fails the test. */
  readonly respond?: (request: AwsRequest) => AwsResponse;
}

export function createGuard({
  command = '',
  stage = 'prod',
  options = {},
  service,
  respond,
}: GuardSpec) {
  const handle = async (request: AwsRequest) => {
    if (!respond) throw new Error(`Unexpected ${request.method} ${request.path}`);
    const [statusCode, text] = respond(request);
    return { response: { statusCode, headers: {}, body: new Blob([text]).stream() } };
  };
  const provider = {
    getStage: () => stage,
    getRegion: () => 'eu-west-1',
    getAccountInfo: async () => ({ accountId: '111122223333', partition: 'aws' }),
    getDeploymentPrefix: () => 'serverless',
    getServerlessDeploymentBucketName: async () => 'code',
    getAwsSdkV3Config: async () => ({
      region: 'eu-west-1',
      requestHandler: { handle },
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    naming: {
      getStackName: () => 'finance-ledger-prod',
      getCompiledTemplateS3Suffix: () => 'template.json',
    },
  };
  const serverless = {
    get service() {
      return {
        service: 'finance-ledger',
        custom: { deployDuringRun: '', rollbackMinutes: '0' },
        initialServerlessConfig: { params: readParameters() },
        ...service?.(),
      };
    },
    processedInput: { commands: command.split(' ') },
    classes: { Error },
    getProvider: () => provider,
  };
  const log = { notice: () => undefined };
  return new DeployGuard(serverless as never, options, { log });
}

/** Reads `params` of serverless.yml, with a word in place of each variable, and with the alarm topic that prod needs. */
export function readParameters(): Record<string, Record<string, unknown>> {
  const text = readFileSync(join(import.meta.dirname, '../../../serverless.yml'), 'utf8');
  const { params } = parse(text.replaceAll(/\$\{[^}]*\}/g, 'word'));
  const { alarmTopicArn } = MIGRATING;
  return { ...params, prod: { ...params.prod, alarmTopicArn } };
}
