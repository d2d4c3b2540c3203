// Invokes the functions of a deployed stage over the API of AWS Lambda. Region, credentials and address come from the usual
// variables: AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL_LAMBDA.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as v from 'valibot';
import { parse } from 'yaml';
import {
  isRefusalName,
  isRetryableFailure,
  isRetryableName,
  parseRefusal,
  Refusal,
  RetryableFailure,
} from '../../../lib/migration/refusals.ts';
import { translateFailure } from '../../../lib/migration/runs/failures.ts';
import type { FunctionName } from './commands.ts';
import { FunctionFailedError, type Invoker } from './invoker.ts';

export function createStageInvoker(stage: string, client = createClient()): Invoker {
  return {
    stage,
    where: `the table of stage ${stage}`,
    async invoke(name, payload) {
      const FunctionName = nameDeployedFunction(name, stage);
      const Payload = Buffer.from(JSON.stringify(payload));
      const response = await client
        .send(new InvokeCommand({ FunctionName, Payload }))
        .catch((error: unknown) => {
          throw translateInvocationFailure(FunctionName, error);
        });
      const text = Buffer.from(response.Payload ?? []).toString();
      const result: unknown = text === '' ? undefined : JSON.parse(text);
      if (response.FunctionError !== undefined)
        throw translateFunctionFailure(FunctionName, result);
      return result ?? undefined;
    },
  };
}

// Makes only one attempt: after a lost response, the step may still be running, and would lock out a second invocation.
function createClient(): LambdaClient {
  return new LambdaClient({ maxAttempts: 1 });
}

const SERVERLESS_FILE = join(import.meta.dirname, '../../../serverless.yml');
const serviceSchema = v.object({ service: v.string() });

/** Returns the name of a deployed function, which begins with the service's name in serverless.yml */
export function nameDeployedFunction(name: FunctionName, stage: string): string {
  const { service } = v.parse(serviceSchema, parse(readFileSync(SERVERLESS_FILE, 'utf8')));
  return `${service}-${stage}-migration${name[0]?.toUpperCase()}${name.slice(1)}`;
}

const failureSchema = v.object({
  // A function that reached its time limit reports no type.
  errorType: v.optional(v.string(), ''),
  errorMessage: v.optional(v.string(), ''),
});

const NO_REASON = { errorType: '', errorMessage: '' };

/** Translates the error that a function threw, or the platform's report that the function was ended. */
function translateFunctionFailure(functionName: string, response: unknown): Error {
  const { errorType, errorMessage } = v.parse(v.fallback(failureSchema, NO_REASON), response);
  if (isRefusalName(errorType)) return parseRefusal(errorType, errorMessage);
  if (isRetryableName(errorType)) return new RetryableFailure(errorType, errorMessage);
  if (errorType === 'Sandbox.Timedout' || /Task timed out/.test(errorMessage)) {
    return new RetryableFailure(
      'RetryableUnavailable',
      `${functionName} reached its time limit. Its finished work is kept and its lock expires within two minutes: then repeat the same command.`,
    );
  }
  const reason = [errorType, errorMessage].filter((text) => text !== '').join(': ');
  return new FunctionFailedError(
    `${functionName} failed (${reason || 'no reason given'}): see its log, /aws/lambda/${functionName}.`,
  );
}

// Lambda's names for transient errors
const TRANSIENT_ERRORS =
  /^(TooManyRequests|Service|ResourceConflict|EC2Throttled|ENILimitReached)Exception$/;

/** Translates a failure to invoke the function, or to receive its response. */
function translateInvocationFailure(functionName: string, cause: unknown): unknown {
  const { name = '', message = '' } = cause as { name?: string; message?: string };
  if (name === 'ResourceNotFoundException') {
    return new Refusal('RefusedSetting', `There is no function ${functionName} in this stage.`, {
      cause,
    });
  }
  if (TRANSIENT_ERRORS.test(name)) {
    const why = `${functionName} could not be invoked: ${name}: ${message}.`;
    return new RetryableFailure('RetryableUnavailable', why, { cause });
  }
  const translated = translateFailure(cause);
  if (!isRetryableFailure(translated)) return translated;
  const why = `No answer from ${functionName}, which may still be running: "status" shows it.`;
  return new RetryableFailure('RetryableUnavailable', why, { cause });
}
