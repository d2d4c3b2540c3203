// Where the emulator differs from AWS, each made up for in the tests and never in the product.
// differences.test.ts fails when one of them is gone.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiGatewayV2Client, UpdateApiCommand } from '@aws-sdk/client-apigatewayv2';
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import {
  addressOf,
  apiIdOf,
  clientOptions,
  type EmulatedStage,
  stackOf,
} from '../../local/emulated-stage.ts';

/** Tests of the shared suites that cannot pass on the emulator, by what their names contain. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'GET /health': 'The emulator answers /health on every host itself.',
  'POST /health': 'The same.',
  'OPTIONS that is no preflight':
    'The emulated gateway answers every OPTIONS itself, also where a route names it.',
  '1,000 generated requests': 'Some are OPTIONS. generated-requests.test.ts sends the others.',
  'OPTIONS /categories': 'The same.',
  'that is not UTF-8 is refused': 'Sent by fetch, which does not resolve names below localhost.',
  'the tour of the README': 'The same.',
  'a preflight from another origin gets no CORS headers':
    'The emulated gateway refuses it with a 403 of its own.',
  'a page of another origin writes nothing':
    'Not a difference: the local edge refuses what API Gateway only leaves without CORS headers.',
  'a slash that is encoded parts nothing': 'The emulated gateway decodes %2F before it routes.',
  '%25 is 404 naming the resource and the id as sent':
    'The emulated gateway keeps %25 in a path parameter.',
};

/**
 * CloudFormation stores a CORS configuration under names that the emulated gateway does not read, so that every
 * preflight is a 403; the gateway's own API stores it correctly. The suite calls from the API's own address, which is
 * known only now.
 */
export async function repairCors(deployed: EmulatedStage): Promise<void> {
  const options = clientOptions(deployed.environment);
  const { TemplateBody = '' } = await new CloudFormationClient(options).send(
    new GetTemplateCommand({ StackName: stackOf(deployed.stage) }),
  );
  const { CorsConfiguration } = JSON.parse(TemplateBody).Resources.HttpApi.Properties;
  const AllowOrigins = [...CorsConfiguration.AllowOrigins, await addressOf(deployed)];
  const ApiId = await apiIdOf(deployed);
  await new ApiGatewayV2Client(options).send(
    new UpdateApiCommand({ ApiId, CorsConfiguration: { ...CorsConfiguration, AllowOrigins } }),
  );
}

/**
 * CloudFormation on the emulator refuses alarms that compute with several metrics. They are left out of the package;
 * tests/wiring/alarms.test.ts evaluates them.
 */
export async function leaveOutUnsupported(packageFolder: string): Promise<void> {
  const file = join(packageFolder, 'serverless-state.json');
  const state = JSON.parse(await readFile(file, 'utf8'));
  const { Resources } = state.service.provider.compiledCloudFormationTemplate;
  for (const name of Object.keys(Resources)) {
    if (Resources[name].Properties?.Metrics) delete Resources[name];
  }
  await writeFile(file, JSON.stringify(state));
}
