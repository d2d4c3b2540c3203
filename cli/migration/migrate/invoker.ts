// Invokes the migration's functions, in this process or on a deployed stage. The command line treats both alike.
import * as v from 'valibot';
import { COMMANDS, EXTERNAL_ACTIONS, PHASES } from '../../../lib/migration/phases.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import type { FunctionName } from './commands.ts';

export type Payload = Readonly<Record<string, unknown>>;

/** Services that a command needs: the table with the runs, the memory backend alone, or all services of the steps */
export type Needs = 'record' | 'backend' | 'services';

export interface Invoker {
  /** Name of the stage; undefined for this process */
  readonly stage: string | undefined;
  /** Name and address of the table with the runs */
  readonly where: string;
  /**
   * Invokes a function once, and waits for the result.
   * @param signal interrupts the function in this process; a function on a stage continues
   * @throws the Refusal or RetryableFailure of the function; FunctionFailedError for a fault of the function itself
   */
  invoke(name: FunctionName, payload: Payload, signal?: AbortSignal): Promise<unknown>;
}

/** A fault of the function itself or of its platform, which the guide does not list */
export class FunctionFailedError extends Error {
  override readonly name = 'FunctionFailedError';
}

const statusSchema = v.looseObject({
  runId: v.string(),
  at: v.string(),
  phase: v.picklist(PHASES),
  plan: v.looseObject({}),
  evidence: v.array(v.looseObject({})),
  moves: v.array(v.looseObject({ command: v.picklist(COMMANDS) })),
  pendingAction: v.nullable(v.looseObject({ action: v.picklist(EXTERNAL_ACTIONS) })),
  // If a function did not report the next two, `migrate run` would open another window after a rollback.
  hasReturned: v.boolean(),
  isRepeated: v.boolean(),
});

/**
 * Reads the status of the named run, or of the current one.
 * @throws the function's error; if there is no run, a Refusal that names the table
 */
export async function fetchStatus(invoker: Invoker, runId?: string): Promise<Status> {
  const status = await invoker
    .invoke('status', runId === undefined ? {} : { runId })
    .catch((error: unknown) => {
      if (!(error instanceof Refusal && error.name === UNKNOWN_RUN)) throw error;
      throw new Refusal(UNKNOWN_RUN, `In ${invoker.where}: ${error.why}`);
    });
  if (v.is(statusSchema, status)) return status as unknown as Status;
  throw createVersionError(invoker);
}

export const UNKNOWN_RUN = 'RefusedUnknownRun';

/** Creates the error for a result in a form that this command line does not know. */
export function createVersionError({ stage }: Invoker): FunctionFailedError {
  return new FunctionFailedError(
    `The functions of ${stage ?? 'this process'} and this command line are of different versions: check out the deployed version, or deploy this one.`,
  );
}
