// A bucket with the right name but another owner is neither read nor written.
import { expect, it, onTestFinished, vi } from 'vitest';
import { openArtifacts } from '../../../../lib/migration/adapters/open-artifacts.ts';
import { listenInTest } from '../../../shared/support/loopback.ts';

const OWNER = '111122223333';

/** Starts an S3 double that stores nothing, and records the bucket owner that each request expects. */
async function startS3() {
  const expected: [request: string, owner: unknown][] = [];
  const s3Endpoint = await listenInTest((request, response) => {
    const { method, headers } = request;
    expected.push([`${method}`, headers['x-amz-expected-bucket-owner']]);
    request.resume();
    const isList = /[?&](list-type|uploads)/.test(request.url ?? '');
    response.statusCode = isList || method === 'PUT' ? 200 : 404;
    response.end(isList ? '<ListBucketResult></ListBucketResult>' : '');
  });
  return { expected, s3Endpoint };
}

it('every request names the account that must own the bucket', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { expected, s3Endpoint } = await startS3();
  const store = openArtifacts('s3://backups/runs', { s3Endpoint, bucketOwner: OWNER });
  expect(await store.find('key')).toBeUndefined();
  expect(await Array.fromAsync(store.list('run-a/'))).toEqual([]);
  await store.put('key', [Buffer.from('text')]).catch(() => {});
  expect([...new Set(expected.map(([method]) => method))].sort()).toEqual(['GET', 'HEAD', 'PUT']);
  expect(expected.filter(([, owner]) => owner !== OWNER)).toEqual([]);
});
