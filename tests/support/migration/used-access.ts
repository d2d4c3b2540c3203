// What a function of the migration asks of AWS while it works, in the terms of permissions: the action, and on what.
import { createS3Artifacts } from '../../../lib/migration/adapters/s3-artifacts.ts';
import { createSsmCollectionSetting } from '../../../lib/migration/adapters/ssm-collection-setting.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { interpose } from '../interposed-client.ts';
import type { Client } from '../store-faults.ts';
import { type Command, createBucket } from './bucket.ts';
import { createParameterStore, type ParameterStore } from './parameter-store.ts';

export interface UsedAccess {
  /** From here on what is asked is written down for this function. */
  recordFor(name: string): void;
  /** Such as `s3:GetObject object`. */
  of(name: string): string[];
  table(client: Client): Client;
  artifacts(options: { readonly prefix: string; readonly now: () => Date }): Services['artifacts'];
  setting(parameter: string): Services['setting'];
  readonly parameters: ParameterStore;
}

// Actions by command, as the service authorization reference has them. Without the second one, a look at what is not
// there is answered 403; without the third, it does not say how long the object is locked.
const OF_S3: Readonly<Record<string, readonly string[]>> = {
  HeadObject: ['GetObject object', 'ListBucket bucket', 'GetObjectRetention object'],
  GetObject: ['GetObject object'],
  GetObjectTagging: ['GetObjectTagging object'],
  PutObject: ['PutObject object'],
  CreateMultipartUpload: ['PutObject object'],
  UploadPart: ['PutObject object'],
  CompleteMultipartUpload: ['PutObject object'],
  PutObjectTagging: ['PutObjectTagging object'],
  PutObjectRetention: ['PutObjectRetention object'],
  AbortMultipartUpload: ['AbortMultipartUpload object'],
  ListMultipartUploads: ['ListBucketMultipartUploads bucket'],
  ListObjectsV2: ['ListBucket bucket'],
  ListObjectVersions: ['ListBucketVersions bucket'],
  DeleteObject: ['DeleteObject object'],
  DeleteObjectVersion: ['DeleteObjectVersion object'],
  GetObjectLockConfiguration: ['GetBucketObjectLockConfiguration bucket'],
};

export function createUsedAccess(): UsedAccess {
  const used = new Map<string, Set<string>>();
  let current = '';
  const parameters = createParameterStore();
  const bucket = createBucket(noteS3);

  function note(access: string): void {
    used.get(current)?.add(access);
  }

  function noteS3({ name, input }: Command): void {
    const actions = OF_S3[input.VersionId ? `${name}Version` : name];
    if (!actions) throw new Error(`Which permission ${name} asks for is not known here`);
    for (const action of actions) note(`s3:${action}`);
    if (input.Bucket !== BUCKET) throw new Error(`${input.Bucket} is not the bucket`);
  }

  return {
    recordFor(name) {
      current = name;
      if (!used.has(name)) used.set(name, new Set());
    },
    of: (name) => [...(used.get(name) ?? [])].sort(),
    table: (client) =>
      interpose(client, (command, input) => {
        for (const access of ofTable(command, input)) note(access);
      }),
    artifacts: (options) => createS3Artifacts({ ...options, client: bucket, bucket: BUCKET }),
    setting: (parameter) => {
      const send = async (command: { input: { Name?: string } }) => {
        const action = command.constructor.name.replace(/Command$/, '');
        const version = command.input.Name?.slice(parameter.length) ? ' of a version' : '';
        note(`ssm:${action} setting${version}`);
        return await parameters.client.send(command as never);
      };
      return createSsmCollectionSetting({ client: { send: send as never }, parameter });
    },
    parameters,
  };
}

const BUCKET = 'artifacts';

interface TableInput extends Part {
  readonly TransactItems?: readonly Readonly<Record<string, Part>>[];
}

interface Part {
  readonly Key?: { readonly pk: string };
  readonly Item?: { readonly pk: string };
}

// A transaction needs no permission of its own, but that of each of its parts.
function ofTable(command: string, input: TableInput): string[] {
  const single = { [command.replace(/Command$/, '')]: input };
  return (input.TransactItems ?? [single]).flatMap((item) =>
    Object.entries(item).map(([kind, part]) => `dynamodb:${kind}Item ${placeOf(part)}`),
  );
}

function placeOf({ Key, Item }: Part): string {
  return /^@migration(#|$)/.test((Key ?? Item)?.pk ?? '') ? 'run' : 'ledger';
}
