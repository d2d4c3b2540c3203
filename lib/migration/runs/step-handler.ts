// A step as a Lambda function.
import type { Context } from 'aws-lambda';
import type { Services } from '../services.ts';
import { recordsFromEnvironment, servicesFromEnvironment } from '../services-from-environment.ts';
import { advance } from './advance.ts';
import { translateFailure } from './failures.ts';
import { parseOrder } from './input.ts';
import type { Remembering } from './run-store.ts';
import type { Step } from './step.ts';

export interface InvocationContext extends Pick<Context, 'getRemainingTimeInMillis'> {
  /** Ctrl-C of the operator in whose process the step runs; a Lambda function has none. */
  readonly interruption?: AbortSignal;
}

/** @param services called for every invocation: its caller caches them */
export function stepHandler(step: Step, services: () => Promise<Services>) {
  return async (payload: unknown, context: InvocationContext) =>
    await advance(step, await services(), {
      ...parseOrder(step.command, payload),
      timeLeftMs: () => context.getRemainingTimeInMillis(),
      interruption: context.interruption,
    });
}

let made: Promise<Services> | undefined;
let remembered: Remembering | undefined;

/** Services of this process; after a failure the next invocation tries again. @throws Refusal, RetryableFailure */
export function openOwnServices(): Promise<Services> {
  made ??= servicesFromEnvironment(process.env).catch((error: unknown) => {
    made = undefined;
    throw translateFailure(error);
  });
  return made;
}

/** For functions that look up or note down: they need no more than the table. @throws Refusal */
export async function openOwnRecords(): Promise<Remembering> {
  remembered ??= recordsFromEnvironment(process.env);
  return remembered;
}
