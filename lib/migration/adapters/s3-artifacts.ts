// Artifacts in an S3 bucket. An object's digest is a tag that is written last: an object without this tag is incomplete.
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  NoSuchKey,
  NotFound,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type Artifact, type ArtifactStore, createArtifactStore } from '../ports/artifacts.ts';
import { recoverWith } from '../refusals.ts';

// S3 accepts 10,000 parts, or 160 GB in parts of this size. Four parts are in memory at a time.
const PART_BYTES = 16 * 1024 * 1024;

/** @param prefix prefix of every key: empty, or ending in "/" */
export function createS3Artifacts(options: {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
  readonly now: () => Date;
}): ArtifactStore {
  const { client, bucket: Bucket, prefix, now } = options;
  let hasObjectLock: Promise<boolean> | undefined;
  const locate = (key: string): Place => ({ Bucket, Key: prefix + key });

  async function find(key: string): Promise<Artifact | undefined> {
    const object = await undefinedIfMissing(client.send(new HeadObjectCommand(locate(key))));
    const tags = object && (await readTags(client, locate(key)));
    if (!tags?.sha256) return undefined;
    const retainUntil = object?.ObjectLockRetainUntilDate ?? parseDate(tags[RETAIN_UNTIL]);
    return { key, bytes: object?.ContentLength ?? 0, sha256: tags.sha256, retainUntil };
  }

  async function write(key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await abortUploads(client, locate(key));
    await upload(client, locate(key), content);
  }

  async function record({ key, sha256, retainUntil }: Artifact): Promise<void> {
    if (!retainUntil) return await writeTags(client, locate(key), { sha256 });
    // The setting is read once: it is fixed when a bucket is created.
    hasObjectLock ??= readObjectLock(client, Bucket);
    if (await hasObjectLock) return await lockObject(client, locate(key), retainUntil);
    const tags = { sha256, [RETAIN_UNTIL]: retainUntil.toISOString() };
    await writeTags(client, locate(key), tags);
  }

  async function* read(key: string) {
    const { Body } = await client.send(new GetObjectCommand(locate(key)));
    if (Body instanceof Readable) yield* Body as AsyncIterable<Uint8Array>;
  }

  async function* listKeys(keyPrefix: string) {
    const query = { Bucket, Prefix: prefix + keyPrefix };
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, query)) {
      yield* Contents.map(({ Key = '' }) => Key.slice(prefix.length));
    }
  }

  const remove = (key: string) => deleteVersions(client, locate(key));

  async function removeAll(keyPrefix: string): Promise<void> {
    await abortUploads(client, locate(keyPrefix), 'keys with prefix');
    await deleteVersions(client, locate(keyPrefix), 'keys with prefix');
  }

  return createArtifactStore({ find, write, record, read, listKeys, remove, removeAll }, now);
}

// If the stream breaks, the upload is aborted and leaves nothing: no object appears before its last part.
async function upload(
  client: S3Client,
  place: Place,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const Body = Readable.from(content, { objectMode: false });
  const multipart = new Upload({ client, params: { ...place, Body }, partSize: PART_BYTES });
  try {
    await multipart.done();
  } finally {
    Body.destroy();
  }
}

const RETAIN_UNTIL = 'retain-until';

async function readTags(client: S3Client, place: Place): Promise<Record<string, string>> {
  const response = await undefinedIfMissing(client.send(new GetObjectTaggingCommand(place)));
  const tags = response?.TagSet ?? [];
  return Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, Value]));
}

async function writeTags(client: S3Client, place: Place, tags: Record<string, string>) {
  const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  await client.send(new PutObjectTaggingCommand({ ...place, Tagging: { TagSet } }));
}

function parseDate(text: string | undefined): Date | undefined {
  return text ? new Date(text) : undefined;
}

async function undefinedIfMissing<Result>(pending: Promise<Result>): Promise<Result | undefined> {
  const isMissing = (error: unknown) => error instanceof NotFound || error instanceof NoSuchKey;
  return await pending.catch(recoverWith(undefined, isMissing));
}

export interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

/** Locks the object in governance mode: only callers with the right to bypass the lock can delete it. */
async function lockObject(client: S3Client, place: Place, until: Date): Promise<void> {
  // Rounded up to seconds: the service truncates fractions, and retention must never be shorter than requested.
  const RetainUntilDate = new Date(Math.ceil(until.getTime() / 1000) * 1000);
  const Retention = { Mode: 'GOVERNANCE', RetainUntilDate } as const;
  await client.send(new PutObjectRetentionCommand({ ...place, Retention }));
}

async function readObjectLock(client: S3Client, Bucket: string): Promise<boolean> {
  const response = await client
    .send(new GetObjectLockConfigurationCommand({ Bucket }))
    .catch(recoverWith(undefined, isNamed('ObjectLockConfigurationNotFoundError')));
  return response?.ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled';
}

/** Scope of an operation: one object, or every object whose key starts with the same prefix */
type Scope = 'this key' | 'keys with prefix';

function isWithin(scope: Scope, key: string | undefined, { Key }: Place): boolean {
  return scope === 'this key' ? key === Key : key?.startsWith(Key) === true;
}

/** Deletes all versions: a versioned bucket would keep them behind a delete marker, at a cost. */
async function deleteVersions(
  client: S3Client,
  place: Place,
  scope: Scope = 'this key',
): Promise<void> {
  const { Bucket, Key } = place;
  let page: ListObjectVersionsCommandOutput | undefined;
  do {
    const position = { KeyMarker: page?.NextKeyMarker, VersionIdMarker: page?.NextVersionIdMarker };
    page = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key, ...position }));
    for (const version of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      if (!isWithin(scope, version.Key, place)) continue;
      const { VersionId } = version;
      await client.send(new DeleteObjectCommand({ Bucket, Key: version.Key, VersionId }));
    }
  } while (page.IsTruncated);
}

/** Aborts unfinished uploads. No process continues them: one run writes at a time. */
async function abortUploads(
  client: S3Client,
  place: Place,
  scope: Scope = 'this key',
): Promise<void> {
  const { Bucket, Key: Prefix } = place;
  let page: ListMultipartUploadsCommandOutput | undefined;
  do {
    const position = { KeyMarker: page?.NextKeyMarker, UploadIdMarker: page?.NextUploadIdMarker };
    page = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...position }));
    for (const { Key, UploadId } of page.Uploads ?? []) {
      if (!isWithin(scope, Key, place)) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await client.send(abort).catch(recoverWith(undefined, isNamed('NoSuchUpload')));
    }
  } while (page.IsTruncated);
}

function isNamed(name: string) {
  return (error: unknown): boolean => (error as Error).name === name;
}
