// The functions of a deployed stage, invoked over the API of AWS Lambda. Region, credentials and another address
// than AWS's own come from the usual variables: AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL_LAMBDA.
import { InvokeCommand, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { functionNameOf } from './function-names.ts';
import type { Payload, Place } from './place.ts';
import { failureOfFunction, failureOfInvocation } from './stage-failures.ts';

export function createOnStage(stage: string, client = createClient()): Place {
  return {
    stage,
    async invoke(name, payload) {
      const FunctionName = functionNameOf(name, stage);
      const { Payload, FunctionError } = await invocation(client, FunctionName, payload);
      const answer = parsed(Payload);
      if (FunctionError !== undefined) throw failureOfFunction(FunctionName, answer);
      return answer ?? undefined;
    },
  };
}

// One try: a step whose answer was lost is still at work, and a second one would only find that out.
function createClient(): LambdaClient {
  return new LambdaClient({ maxAttempts: 1 });
}

async function invocation(
  client: LambdaClient,
  FunctionName: string,
  payload: Payload,
): Promise<InvokeCommandOutput> {
  try {
    const Payload = Buffer.from(JSON.stringify(payload));
    return await client.send(new InvokeCommand({ FunctionName, Payload }));
  } catch (error) {
    throw failureOfInvocation(FunctionName, error);
  }
}

function parsed(payload: Uint8Array | undefined): unknown {
  const text = Buffer.from(payload ?? []).toString();
  return text === '' ? undefined : JSON.parse(text);
}
