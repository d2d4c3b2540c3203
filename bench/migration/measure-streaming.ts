// Sends data to an artifact store, reads the data back, and prints the peak memory. Exits with 1 if the peak is above the limit.
// The store is a folder, or S3 if S3_ENDPOINT is set.
// Usage: node bench/migration/measure-streaming.ts [megabytes] [limit in megabytes]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { openArtifacts } from '../../lib/migration/adapters/open-artifacts.ts';
import type { ArtifactStore } from '../../lib/migration/ports/artifacts.ts';
import { measureStream } from '../../lib/migration/ports/artifacts.ts';

const MEGABYTE = 1024 * 1024;
const [megabytes = 1024, limit = 512] = process.argv.slice(2).map(Number);
const { S3_ENDPOINT: s3Endpoint } = process.env;

const folder = await mkdtemp(join(tmpdir(), 'streaming-'));
try {
  await measure(
    s3Endpoint ? await openBucket(s3Endpoint) : openArtifacts(`${pathToFileURL(folder)}`),
  );
} finally {
  await rm(folder, { recursive: true });
}

async function measure(store: ArtifactStore): Promise<void> {
  const started = performance.now();
  const stored = await store.put('streamed', generateContent(megabytes));
  const received = await measureStream(store.get('streamed'));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  await store.delete('streamed');
  const isSame = received.sha256 === stored.sha256 && received.bytes === megabytes * MEGABYTE;
  const peak = Math.ceil(process.resourceUsage().maxRSS / 1024);
  const place = s3Endpoint ? 'an S3 bucket' : 'a folder';
  console.log(
    `${megabytes} MB into ${place} and back in ${seconds} s: ${isSame ? 'the same' : 'NOT the same'}, ` +
      `at most ${peak} MB resident (limit ${limit} MB)`,
  );
  if (!isSame || peak > limit) process.exitCode = 1;
}

async function* generateContent(parts: number): AsyncIterable<Uint8Array> {
  for (let part = 0; part < parts; part += 1) yield Buffer.alloc(MEGABYTE, `${part},`);
}

async function openBucket(endpoint: string): Promise<ArtifactStore> {
  const client = new S3Client({ endpoint, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: 'streaming' }));
  return openArtifacts('s3://streaming', { s3Endpoint: endpoint });
}
