// A command finds a stage's API at the address in the stack's outputs, or on this machine's emulator.
import { afterEach, expect, it, vi } from 'vitest';
import { readStageAddress } from '../../../../cli/stage-address.ts';
import { openCloudFormation } from '../../support/cloud-formation.ts';

afterEach(() => void vi.unstubAllEnvs());

const ON_AWS = 'https://abc123.execute-api.eu-west-1.amazonaws.com';

it('the address comes from the outputs of the stack', async () => {
  const { requests } = await openCloudFormation({ HttpApiUrl: 'https://ledger.example' });
  expect(await readStageAddress('dev')).toBe('https://ledger.example');
  expect(requests).toEqual([expect.stringContaining('StackName=finance-ledger-dev')]);
});

it('a stack that names no address is an error', async () => {
  await openCloudFormation({});
  await expect(readStageAddress('dev')).rejects.toThrow('finance-ledger-dev has no HttpApiUrl');
});

it('the address belongs to AWS only if no other endpoint is set', async () => {
  const { url } = await openCloudFormation({ HttpApiUrl: ON_AWS });
  expect(await readStageAddress('dev')).toBe(`${url}/_aws/execute-api/abc123`);
  vi.stubEnv('AWS_ENDPOINT_URL', 'https://proxy.example');
  await expect(readStageAddress('dev')).rejects.toThrow(`AWS_ENDPOINT_URL is set, but ${ON_AWS}`);
  vi.stubEnv('AWS_ENDPOINT_URL', '');
  expect(await readStageAddress('dev')).toBe(ON_AWS);
});
