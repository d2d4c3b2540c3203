// Where a command finds the API of a stage: at the address that its stack names, or on the emulator of this machine.
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { addressOfStage } from '../../../../cli/stage-address.ts';
import { listenInTest } from '../../support/loopback.ts';

afterEach(() => void vi.unstubAllEnvs());

/** CloudFormation, whose stacks have one output or none. */
async function openCloudFormation(address: string | undefined) {
  const asked: string[] = [];
  const url = await listenInTest(async (request, response) => {
    asked.push(await text(request));
    const output = `<OutputKey>HttpApiUrl</OutputKey><OutputValue>${address}</OutputValue>`;
    const outputs = address === undefined ? '' : `<member>${output}</member>`;
    const stack = `<member><StackName>x</StackName><Outputs>${outputs}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`);
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', url);
  return { url, asked };
}

const ON_AWS = 'https://abc123.execute-api.eu-west-1.amazonaws.com';

it('is that of the stack', async () => {
  const { asked } = await openCloudFormation('https://ledger.example');
  expect(await addressOfStage('dev')).toBe('https://ledger.example');
  expect(asked).toEqual([expect.stringContaining('StackName=finance-ledger-dev')]);
});

it('is none where the stack names none', async () => {
  await openCloudFormation(undefined);
  await expect(addressOfStage('dev')).rejects.toThrow('finance-ledger-dev has no HttpApiUrl');
});

it('is one of AWS only where no other endpoint is set', async () => {
  const { url } = await openCloudFormation(ON_AWS);
  expect(await addressOfStage('dev')).toBe(`${url}/_aws/execute-api/abc123`);
  vi.stubEnv('AWS_ENDPOINT_URL', 'https://proxy.example');
  await expect(addressOfStage('dev')).rejects.toThrow(`AWS_ENDPOINT_URL is set, but ${ON_AWS}`);
  vi.stubEnv('AWS_ENDPOINT_URL', '');
  expect(await addressOfStage('dev')).toBe(ON_AWS);
});
