// What an S3 bucket keeps of an object beside the object itself: locks, former versions, unfinished uploads.
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectLockConfigurationCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutObjectRetentionCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

export interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

export function createObjectLock(client: S3Client, Bucket: string) {
  let enabled: Promise<boolean> | undefined;

  /** Set when a bucket is made, so that it is asked for once. */
  async function isEnabled(): Promise<boolean> {
    enabled ??= askWhetherEnabled(client, Bucket);
    return await enabled;
  }

  /** In governance mode: the store itself refuses deletion to all but those with the right to bypass it. */
  async function retain(place: Place, until: Date): Promise<void> {
    // The service cuts fractions off: rounded up, for it is never to be shorter than asked.
    const RetainUntilDate = new Date(Math.ceil(until.getTime() / 1000) * 1000);
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate } as const;
    await client.send(new PutObjectRetentionCommand({ ...place, Retention }));
  }

  return { isEnabled, retain };
}

async function askWhetherEnabled(client: S3Client, Bucket: string): Promise<boolean> {
  try {
    const reply = await client.send(new GetObjectLockConfigurationCommand({ Bucket }));
    return reply.ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled';
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ObjectLockConfigurationNotFoundError') return false;
    throw error;
  }
}

/** Of an object, or of everything whose key begins like its. */
export type Reach = 'it alone' | 'everything below';

function isWithin(reach: Reach, key: string | undefined, { Key }: Place): boolean {
  return reach === 'it alone' ? key === Key : key?.startsWith(Key) === true;
}

/** Also what a versioned bucket would keep behind a delete marker, and pay for. */
export async function deleteVersions(
  client: S3Client,
  place: Place,
  reach: Reach = 'it alone',
): Promise<void> {
  const { Bucket, Key } = place;
  let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined;
  do {
    const page = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key, ...from }));
    for (const found of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      if (!isWithin(reach, found.Key, place)) continue;
      const { VersionId } = found;
      await client.send(new DeleteObjectCommand({ Bucket, Key: found.Key, VersionId }));
    }
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
      : undefined;
  } while (from);
}

/** The process that began them is gone: one run writes at a time. */
export async function abortUploads(
  client: S3Client,
  place: Place,
  reach: Reach = 'it alone',
): Promise<void> {
  const { Bucket, Key: Prefix } = place;
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined;
  do {
    const page = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...from }));
    for (const { Key, UploadId } of page.Uploads ?? []) {
      if (isWithin(reach, Key, place)) await abort(client, { Bucket, Key, UploadId });
    }
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : undefined;
  } while (from);
}

interface UnfinishedUpload {
  readonly Bucket: string;
  readonly Key: string | undefined;
  readonly UploadId: string | undefined;
}

async function abort(client: S3Client, upload: UnfinishedUpload) {
  try {
    await client.send(new AbortMultipartUploadCommand(upload));
  } catch (error) {
    if (!(error instanceof S3ServiceException && error.name === 'NoSuchUpload')) throw error;
  }
}
