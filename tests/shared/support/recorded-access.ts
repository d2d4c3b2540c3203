// Records the access that functions use on AWS, in the form of granted-access.ts. The recorder offers an endpoint in place
// of DynamoDB and the Parameter Store, and clients for the artifacts, the setting and the records of a migration.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createS3Artifacts } from '../../../lib/migration/adapters/s3-artifacts.ts';
import { createSsmCollectionSetting } from '../../../lib/migration/adapters/ssm-collection-setting.ts';
import type { createRunRecords } from '../../../lib/migration/runs/run-store.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { type Command, createBucket } from '../../migration/support/bucket.ts';
import { createMemoryTable } from '../../migration/support/memory-table.ts';
import {
  createParameterStore,
  type ParameterStore,
} from '../../migration/support/parameter-store.ts';
import { interpose } from './interposed-client.ts';
import { listen } from './loopback.ts';

export interface AccessRecorder {
  /** Address of a server that forwards to the database, and responds to every request for a secret */
  readonly endpoint: string;
  /** Records all later access for the function `name`. */
  recordFor(name: string): void;
  /** Lists the recorded access in order, such as `s3:GetObject artifacts/* of this account`. */
  usedBy(name: string): string[];
  /** A table in memory for the records of runs: they make many calls, which need no server. */
  readonly runTable: Pick<Parameters<typeof createRunRecords>[0], 'client' | 'tableName'>;
  artifacts(options: { readonly prefix: string; readonly now: () => Date }): Services['artifacts'];
  setting(parameter: string): Services['setting'];
  readonly parameters: ParameterStore;
  close(): Promise<void>;
}

/** A string, plain in a command and tagged in a request */
type StringValue = string | { readonly S?: string };

interface Part {
  readonly Key?: { readonly pk: StringValue };
  readonly Item?: { readonly pk: StringValue };
  readonly ExpressionAttributeValues?: Readonly<Record<string, StringValue>>;
}

interface Request extends Part {
  readonly IndexName?: string;
  readonly TransactItems?: readonly Readonly<Record<string, Part>>[];
  /** Name of a parameter. */
  readonly Name?: string;
}

const BUCKET = 'artifacts';
const OBJECT = 'artifacts/* of this account';
const WHOLE_BUCKET = 'bucket of this account';

// Actions that each command needs, according to AWS's service authorization reference. Without the second action of
// HeadObject, S3 returns 403 for an object that does not exist; without the third, it does not say how long an object is locked.
const S3_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  HeadObject: [`GetObject ${OBJECT}`, `ListBucket ${WHOLE_BUCKET}`, `GetObjectRetention ${OBJECT}`],
  GetObject: [`GetObject ${OBJECT}`],
  GetObjectTagging: [`GetObjectTagging ${OBJECT}`],
  PutObject: [`PutObject ${OBJECT}`],
  CreateMultipartUpload: [`PutObject ${OBJECT}`],
  UploadPart: [`PutObject ${OBJECT}`],
  CompleteMultipartUpload: [`PutObject ${OBJECT}`],
  PutObjectTagging: [`PutObjectTagging ${OBJECT}`],
  PutObjectRetention: [`PutObjectRetention ${OBJECT}`],
  AbortMultipartUpload: [`AbortMultipartUpload ${OBJECT}`],
  ListMultipartUploads: [`ListBucketMultipartUploads ${WHOLE_BUCKET}`],
  ListObjectsV2: [`ListBucket ${WHOLE_BUCKET}`],
  ListObjectVersions: [`ListBucketVersions ${WHOLE_BUCKET}`],
  DeleteObject: [`DeleteObject ${OBJECT}`],
  DeleteObjectVersion: [`DeleteObjectVersion ${OBJECT}`],
  GetObjectLockConfiguration: [`GetBucketObjectLockConfiguration ${WHOLE_BUCKET}`],
};

export async function openAccessRecorder(database: string): Promise<AccessRecorder> {
  const used = new Map<string, Set<string>>();
  let current = '';
  const parameters = createParameterStore();
  const bucket = createBucket(recordS3);
  const memory = createMemoryTable();
  const runTable = {
    tableName: memory.tableName,
    client: interpose(memory.client, (commandName, input) => {
      for (const use of listTableUses(nameOperation(commandName), input)) record(use);
    }),
  };
  const server = await listen(async (request, response) => {
    const body = await text(request);
    const [service, operation = ''] = String(request.headers['x-amz-target']).split('.');
    const isForTable = service?.startsWith('DynamoDB');
    const uses = isForTable
      ? listTableUses(operation, JSON.parse(body))
      : listSecretUses(operation, JSON.parse(body));
    for (const use of uses) record(use);
    const reply = isForTable ? await forward(request, body) : Response.json(SECRET);
    response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await reply.text());
  });

  function record(use: string): void {
    used.get(current)?.add(use);
  }

  function recordS3({ name, input }: Command): void {
    const actions = S3_ACTIONS[input.VersionId ? `${name}Version` : name];
    if (!actions) throw new Error(`The permissions that ${name} needs are not known here`);
    for (const action of actions) record(`s3:${action}`);
    if (input.Bucket !== BUCKET) throw new Error(`${input.Bucket} is not the bucket`);
  }

  function forward({ headers }: IncomingMessage, body: string): Promise<Response> {
    const { connection, host, 'content-length': _, ...rest } = headers as Record<string, string>;
    return fetch(database, { method: 'POST', headers: rest, body });
  }

  return {
    endpoint: server.url,
    recordFor(name) {
      current = name;
      if (!used.has(name)) used.set(name, new Set());
    },
    usedBy: (name) => [...(used.get(name) ?? [])].sort(),
    runTable,
    artifacts: (options) => createS3Artifacts({ ...options, client: bucket, bucket: BUCKET }),
    setting: (parameter) => {
      const send = async (command: { input: { Name?: string } }) => {
        const action = command.constructor.name.replace(/Command$/, '');
        record(`ssm:${action} setting${command.input.Name?.slice(parameter.length) ? ':*' : ''}`);
        return await parameters.client.send(command as never);
      };
      return createSsmCollectionSetting({ client: { send: send as never }, parameter });
    },
    parameters,
    close: server.close,
  };
}

/** Name of the operation that a command of the document client calls */
function nameOperation(commandName: string): string {
  const name = commandName.replace(/Command$/, '');
  if (name === 'Query' || name === 'Scan') return name;
  return name.startsWith('Transact') ? `${name}Items` : `${name}Item`;
}

// A transaction needs no permission of its own, only the permissions of its parts.
function listTableUses(operation: string, body: Request): string[] {
  const parts = body.TransactItems?.flatMap((item) => Object.entries(item));
  if (parts)
    return parts.map(([kind, part]) => `dynamodb:${kind}Item table of ${describeKey(part)}`);
  if (operation.startsWith('Describe')) return [`dynamodb:${operation} table`];
  const place = body.IndexName ? `index ${body.IndexName}` : 'table';
  return [`dynamodb:${operation} ${place} of ${describeKey(body)}`];
}

function describeKey({ Key, Item, ExpressionAttributeValues = {} }: Part): string {
  // A query has its partition among its values. Partitions of ledgers do not begin with "@"; all others but HEALTH do.
  const values = Object.values(ExpressionAttributeValues).map(readString);
  const key = (Key ?? Item)?.pk;
  const partition = key ? readString(key) : (values.find((value) => value.startsWith('@')) ?? '');
  if (partition.startsWith('@API_KEYS#')) return 'API keys';
  if (partition === '@LEDGERS') return 'the list of ledgers';
  if (partition === 'HEALTH') return 'the health check';
  return /^@migration(#|$)/.test(partition) ? 'runs' : 'ledgers';
}

/** Returns an empty string for any other value, which cannot be a partition. */
function readString(value: StringValue): string {
  if (typeof value === 'string') return value;
  return value.S ?? '';
}

const REFERENCE = '/aws/reference/secretsmanager/';
const SECRET = { Parameter: { Value: 'a secret' } };

// Systems Manager returns a secret of Secrets Manager only to a caller who may also read it in Secrets Manager.
function listSecretUses(operation: string, { Name = '' }: Request): string[] {
  const parameter = `ssm:${operation} ssm:parameter${Name}`;
  if (!Name.startsWith(REFERENCE)) return [parameter];
  const secret = `secretsmanager:secret:${Name.slice(REFERENCE.length)}-??????`;
  return [parameter, `secretsmanager:GetSecretValue ${secret}`];
}
