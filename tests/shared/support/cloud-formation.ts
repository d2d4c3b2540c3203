// Fake CloudFormation for commands: every stack has the given outputs.
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { listenInTest } from './loopback.ts';

/** Points AWS clients of this process at the fake until `vi.unstubAllEnvs()`. Only for use inside a test, which closes the fake. */
export async function openCloudFormation(outputs: Readonly<Record<string, string>>) {
  const requests: string[] = [];
  const url = await listenInTest(async (request, response) => {
    requests.push(await text(request));
    const members = Object.entries(outputs).map(
      ([key, value]) =>
        `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    const stack = `<member><StackName>x</StackName><Outputs>${members.join('')}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`);
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', url);
  return { url, requests };
}
