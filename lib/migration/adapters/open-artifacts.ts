// The artifact store that a URL names: s3://bucket/prefix, or file:///folder.
import { fileURLToPath } from 'node:url';
import { S3Client } from '@aws-sdk/client-s3';
import type { ArtifactStore } from '../ports/artifacts.ts';
import { Refusal } from '../refusals.ts';
import { createFileArtifacts } from './file-artifacts.ts';
import { namedClient } from './named-client.ts';
import { createS3Artifacts } from './s3-artifacts.ts';

/**
 * @param s3Endpoint another S3 than the region's own
 * @throws Refusal
 */
export function openArtifacts(
  address: string,
  { s3Endpoint, now = () => new Date() }: { s3Endpoint?: string; now?: () => Date } = {},
): ArtifactStore {
  const url = URL.parse(address);
  if (url?.protocol === 'file:' && url.host === '') {
    return createFileArtifacts({ folder: fileURLToPath(url), now });
  }
  if (url?.protocol === 's3:' && url.host !== '') {
    const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
    return createS3Artifacts({
      client: namedClient(createClient(s3Endpoint), 'The artifacts of ARTIFACTS_URL'),
      bucket: url.host,
      prefix: prefix && `${prefix}/`,
      now,
    });
  }
  const why = `ARTIFACTS_URL "${address}" is neither s3://bucket/prefix nor file:///folder.`;
  throw new Refusal('RefusedSetting', why);
}

// Servers other than Amazon's seldom have a name for every bucket: it goes into the path.
function createClient(endpoint: string | undefined): S3Client {
  return new S3Client(endpoint ? { endpoint, forcePathStyle: true } : {});
}
