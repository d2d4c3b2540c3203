// Turns a step into a Lambda function.
import type { Context } from 'aws-lambda';
import type { Services } from '../services.ts';
import { openRecords, openServices } from '../services-from-environment.ts';
import { advance } from './advance.ts';
import { translateFailure } from './failures.ts';
import { parseStepCall } from './input.ts';
import type { RunRecords } from './run-store.ts';
import type { Step } from './step.ts';

export interface InvocationContext extends Pick<Context, 'getRemainingTimeInMillis'> {
  /** Ctrl-C of the operator in whose process the step runs; a Lambda function has none. */
  readonly interruption?: AbortSignal;
}

/** @param services called for every invocation: its caller caches them */
export function stepHandler(step: Step, services: () => Promise<Services>) {
  return async (payload: unknown, context: InvocationContext) =>
    await advance(step, await services(), {
      ...parseStepCall(step.command, payload),
      timeLeftMs: () => context.getRemainingTimeInMillis(),
      interruption: context.interruption,
    });
}

let services: Promise<Services> | undefined;
let records: RunRecords | undefined;

/** Opens the services once in this process; after a failure the next invocation tries again. @throws Refusal, RetryableFailure */
export function openServicesOnce(): Promise<Services> {
  services ??= openServices(process.env).catch((error: unknown) => {
    services = undefined;
    throw translateFailure(error);
  });
  return services;
}

/** Opens the records alone, for functions that only read or confirm. @throws Refusal */
export async function openRecordsOnce(): Promise<RunRecords> {
  records ??= openRecords(process.env);
  return records;
}
