// Where the functions of a migration run: in this process, or on a deployed stage. The command line asks both alike.
import * as v from 'valibot';
import { COMMANDS, DEEDS, GATES, PHASES } from '../../lib/migration/phases.ts';
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

/** A fault of the function's own, or of what runs it: none that has a name in the guide. */
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
  gates: v.array(
    v.looseObject({
      gate: v.picklist(GATES),
      action: v.nullable(v.picklist(DEEDS)),
      isOpen: v.boolean(),
    }),
  ),
});

/** What the status function answered. @throws FunctionFailedError for what another version of it may have */
export function statusFrom({ stage }: Place, answer: unknown): Status {
  if (v.is(statusSchema, answer)) return answer as unknown as Status;
  throw new FunctionFailedError(
    `The functions of ${stage ?? 'this process'} are of another version than this command line: take theirs, or deploy this one.`,
  );
}

/** Of the latest run, unless one is named; undefined where there has been none. @throws as the function does */
export async function statusIn(place: Place, runId?: string): Promise<Status | undefined> {
  try {
    return statusFrom(place, await place.invoke('status', runId === undefined ? {} : { runId }));
  } catch (error) {
    if (error instanceof Error && error.name === 'RefusedUnknownRun') return undefined;
    throw error;
  }
}
