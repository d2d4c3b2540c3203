// Opens the artifact store at a URL: s3://bucket/prefix, or file:///folder.
import { fileURLToPath } from 'node:url';
import { S3Client } from '@aws-sdk/client-s3';
import type { ArtifactStore } from '../ports/artifacts.ts';
import { namedClient } from '../runs/failures.ts';
import { createFileArtifacts } from './file-artifacts.ts';
import { createS3Artifacts } from './s3-artifacts.ts';

interface OpenOptions {
  readonly s3Endpoint?: string;
  readonly bucketOwner?: string | undefined;
  readonly now?: () => Date;
}

/**
 * @param s3Endpoint address of an S3 service other than that of AWS_REGION
 * @param bucketOwner the account that must own the bucket; S3 refuses every request to another account's bucket
 */
export function openArtifacts(
  address: string,
  { s3Endpoint, bucketOwner, now = () => new Date() }: OpenOptions = {},
): ArtifactStore {
  const url = new URL(address);
  if (url.protocol === 'file:') return createFileArtifacts({ folder: fileURLToPath(url), now });
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  // Servers other than Amazon's seldom have a host name for every bucket, so the bucket is named in the path.
  const client = new S3Client(s3Endpoint ? { endpoint: s3Endpoint, forcePathStyle: true } : {});
  if (bucketOwner) expectOwner(client, bucketOwner);
  return createS3Artifacts({
    client: namedClient(client, 'The artifacts of ARTIFACTS_URL'),
    bucket: url.host,
    prefix: prefix && `${prefix}/`,
    now,
  });
}

// Bucket names are shared by all accounts: a deleted bucket's name can later belong to another account.
function expectOwner(client: S3Client, account: string): void {
  client.middlewareStack.add(
    (next) => async (call) =>
      await next({ ...call, input: { ...call.input, ExpectedBucketOwner: account } }),
    { step: 'initialize', name: 'expectOwner' },
  );
}
