// Artifact stores in S3 pass their contract, with and without object lock (needs S3_ENDPOINT).
import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { openArtifacts } from '../../../../lib/migration/adapters/open-artifacts.ts';
import {
  describeArtifactStore,
  describeEndOfRetention,
  generateBytes,
  toChunks,
} from './artifact-store.ts';

if (process.env.S3_ENDPOINT) describeS3(process.env.S3_ENDPOINT);
else test.skip('S3, which `npm run test:real -- s3` starts a server for', () => {});

function describeS3(endpoint: string): void {
  const client = new S3Client({ endpoint, forcePathStyle: true });

  async function open({ objectLock = false, prefix = '' } = {}) {
    const Bucket = `artifacts-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: objectLock }));
    let offsetMs = 0;
    const now = () => new Date(Date.now() + offsetMs);
    return {
      Bucket,
      store: openArtifacts(`s3://${Bucket}/${prefix}`, { s3Endpoint: endpoint, now }),
      plantUnfinished: async (key: string, Body: string) => {
        await client.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body }));
      },
      listAllKeys: async () => {
        const listed = await client.send(new ListObjectVersionsCommand({ Bucket }));
        const versions = [...(listed.Versions ?? []), ...(listed.DeleteMarkers ?? [])];
        return [...new Set(versions.map(({ Key = '' }) => Key.slice(prefix.length)))].sort();
      },
      advanceClock: (milliseconds: number) => {
        offsetMs += milliseconds;
      },
    };
  }

  describeArtifactStore('a bucket', open);
  describeArtifactStore('a bucket with object lock', () => open({ objectLock: true }));
  describeArtifactStore('part of a bucket', () => open({ prefix: 'backups/mem/' }));
  describeEndOfRetention('a bucket', open);

  test('A bucket with object lock refuses a deletion that our clock would allow', async () => {
    const { store, advanceClock } = await open({ objectLock: true });
    await store.put('key', toChunks('precious'));
    await store.retain('key', new Date(Date.now() + 3_600_000));
    advanceClock(7_200_000);
    await expect(store.delete('key')).rejects.toThrow(/object lock|AccessDenied|Access Denied/);
    expect(await store.find('key')).toMatchObject({ bytes: 8 });
  });

  test('A deletion leaves no old version, which would cost money', async () => {
    const { Bucket, store } = await open({ objectLock: true });
    for (const text of ['one', 'two']) await store.put('key', toChunks(text));
    await store.put('other-key', toChunks('stays'));
    await store.delete('key');
    const { Versions, DeleteMarkers } = await client.send(
      new ListObjectVersionsCommand({ Bucket }),
    );
    expect(Versions?.map(({ Key }) => Key)).toEqual(['other-key']);
    expect(DeleteMarkers ?? []).toEqual([]);
  });

  test('A put aborts the unfinished upload of a killed put, and no other', async () => {
    const { Bucket, store } = await open();
    for (const Key of ['key', 'other-key']) {
      await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    }
    await store.put('key', toChunks('whole'));
    expect(await listUnfinished(Bucket)).toEqual(['other-key']);
  });

  test('Deleting by prefix aborts the unfinished uploads below it, and no others', async () => {
    const { Bucket, store } = await open();
    for (const Key of ['run-1/snapshot-1', 'run-1/snapshot-2', 'run-1/report']) {
      await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    }
    await store.deleteAll('run-1/snapshot-');
    expect(await listUnfinished(Bucket)).toEqual(['run-1/report']);
  });

  test('A put whose source fails leaves no unfinished upload', async () => {
    const { Bucket, store } = await open();
    const failingSource = (async function* () {
      yield* generateBytes(40 * 1024 * 1024);
      throw new Error('the source broke');
    })();
    await expect(store.put('key', failingSource)).rejects.toThrow('the source broke');
    expect(await listUnfinished(Bucket)).toEqual([]);
  });

  test('Objects of other programs in the bucket are not artifacts', async () => {
    const { Bucket, store } = await open();
    await client.send(new PutObjectCommand({ Bucket, Key: 'a name with blanks', Body: 'x' }));
    expect(await Array.fromAsync(store.list(''))).toEqual([]);
  });

  async function listUnfinished(Bucket: string) {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    return Uploads.map(({ Key }) => Key);
  }
}
