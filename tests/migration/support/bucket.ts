// A real S3 client that sends no requests: a bucket in memory, with Object Lock, answers its commands. At the first HeadObject of a
// key, the bucket already has a complete object and an unfinished upload, as if an earlier run with the same id had left them.

import { Readable } from 'node:stream';
import { NotFound, S3Client } from '@aws-sdk/client-s3';

export interface Command {
  /** Name of the command, such as `HeadObject` */
  readonly name: string;
  readonly input: Input;
}

interface Input {
  readonly Bucket: string;
  readonly Key?: string;
  readonly Prefix?: string;
  readonly UploadId?: string;
  readonly VersionId?: string;
  readonly PartNumber?: number;
  readonly Body?: Uint8Array;
  readonly Tagging?: { readonly TagSet: object[] };
  readonly Retention?: { readonly RetainUntilDate: Date };
}

interface StoredObject {
  readonly body: Uint8Array;
  readonly tags?: object[];
  readonly retainUntil?: Date;
}

/** @param onCommand called with each command before it is answered */
export function createBucket(onCommand: (command: Command) => void): S3Client {
  const objects = new Map<string, StoredObject>();
  const parts = new Map<string, Uint8Array[]>();
  const unfinished = new Set<string>();
  const headedKeys = new Set<string>();
  const nameObject = ({ Bucket, Key, Prefix }: Input) => `${Bucket}/${Key ?? Prefix}`;

  function requireObject(input: Input): StoredObject {
    const object = objects.get(nameObject(input));
    if (!object) throw new NotFound({ message: '', $metadata: { httpStatusCode: 404 } });
    return object;
  }

  function change(input: Input, changes: Partial<StoredObject>): void {
    objects.set(nameObject(input), { ...requireObject(input), ...changes });
  }

  function addEarlierUpload(input: Input): void {
    if (headedKeys.has(nameObject(input))) return;
    headedKeys.add(nameObject(input));
    const tags = [{ Key: 'sha256', Value: 'of an earlier run' }];
    objects.set(nameObject(input), { body: Buffer.from('earlier'), tags });
    unfinished.add(nameObject(input));
  }

  function listKeys({ Bucket, Prefix = '' }: Input): string[] {
    const keys = [...objects.keys()].map((name) => name.slice(`${Bucket}/`.length));
    return keys.filter((key) => key.startsWith(Prefix));
  }

  const answers: Readonly<Record<string, (input: Input) => object>> = {
    HeadObject: (input) => {
      addEarlierUpload(input);
      const { body, retainUntil } = requireObject(input);
      return { ContentLength: body.length, ObjectLockRetainUntilDate: retainUntil };
    },
    GetObject: (input) => ({ Body: Readable.from([requireObject(input).body]) }),
    GetObjectTagging: (input) => ({ TagSet: requireObject(input).tags ?? [] }),
    PutObject: (input) => {
      objects.set(nameObject(input), { body: input.Body ?? new Uint8Array() });
      return {};
    },
    PutObjectTagging: (input) => {
      change(input, { tags: input.Tagging?.TagSet ?? [] });
      return {};
    },
    PutObjectRetention: (input) => {
      const { RetainUntilDate } = input.Retention ?? {};
      change(input, RetainUntilDate ? { retainUntil: RetainUntilDate } : {});
      return {};
    },
    CreateMultipartUpload: (input) => {
      parts.set(nameObject(input), []);
      return { UploadId: 'ours' };
    },
    UploadPart: (input) => {
      const uploaded = parts.get(nameObject(input)) ?? [];
      uploaded[(input.PartNumber ?? 1) - 1] = input.Body ?? new Uint8Array();
      return { ETag: 'of-the-part' };
    },
    CompleteMultipartUpload: (input) => {
      objects.set(nameObject(input), { body: Buffer.concat(parts.get(nameObject(input)) ?? []) });
      return {};
    },
    AbortMultipartUpload: (input) => {
      unfinished.delete(nameObject(input));
      return {};
    },
    ListMultipartUploads: (input) => ({
      Uploads: unfinished.has(nameObject(input))
        ? [{ Key: input.Prefix, UploadId: 'earlier' }]
        : [],
    }),
    ListObjectsV2: (input) => ({ Contents: listKeys(input).map((Key) => ({ Key })) }),
    ListObjectVersions: (input) => ({
      Versions: listKeys(input).map((Key) => ({ Key, VersionId: 'the-first' })),
    }),
    DeleteObject: (input) => {
      objects.delete(nameObject(input));
      return {};
    },
    GetObjectLockConfiguration: () => ({
      ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' },
    }),
  };

  const client = new S3Client({ region: 'eu-west-1' });
  client.middlewareStack.add(
    (_next, { commandName = '' }) =>
      async ({ input }) => {
        const name = commandName.replace(/Command$/, '');
        const answer = answers[name];
        if (!answer) throw new Error(`Unexpected S3 command: ${name}`);
        onCommand({ name, input: input as Input });
        return { response: {}, output: { $metadata: {}, ...answer(input as Input) } } as never;
      },
    { step: 'initialize', priority: 'high' },
  );
  return client;
}
