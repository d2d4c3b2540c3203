// Where the functions of a migration run: in this process, or on a deployed stage. The command line asks both alike.
import type { Status } from '../../lib/migration/steps/status.ts';
import type { CommandName } from './commands.ts';

export type Payload = Readonly<Record<string, unknown>>;

export interface Place {
  /** Undefined in this process. */
  readonly stage: string | undefined;
  /**
   * One invocation, to its end.
   * @throws Refusal, RetryableFailure as the function does; FunctionFailedError for a fault of its own
   */
  invoke(name: CommandName, payload: Payload): Promise<unknown>;
}

/** Of the latest run, unless one is named; undefined where there has been none. @throws as the function does */
export async function statusIn(place: Place, runId?: string): Promise<Status | undefined> {
  try {
    return (await place.invoke('status', runId === undefined ? {} : { runId })) as Status;
  } catch (error) {
    if (error instanceof Error && error.name === 'RefusedUnknownRun') return undefined;
    throw error;
  }
}
