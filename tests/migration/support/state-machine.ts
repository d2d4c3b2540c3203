// The state machine in a test: it waits for nothing, and each poll advances the clock.
import type { Services } from '../../../lib/migration/services.ts';
import {
  type EnteredState,
  execute as executeMachine,
} from '../../../sandbox/rehearsal/state-machine.ts';
import { type Migration, RUN } from './migration.ts';

export interface Execution {
  readonly tasks: readonly string[];
  /** Name of the error with which the execution failed; undefined if it succeeded */
  readonly failure: string | undefined;
}

/** A person who approves the copy the third time that the state machine reads the status */
export function approveWhenAsked(migration: Migration) {
  let checks = 0;
  return async (state: string) => {
    if (state !== 'ReadStatus' || (await migration.runs.read(RUN)).phase !== 'copied') return;
    checks += 1;
    if (checks === 3) await migration.openWindow();
  };
}

/** @param onTask called with each task before it runs */
export async function execute(
  migration: Migration,
  options: {
    readonly services?: Services;
    readonly onTask?: (state: string) => Promise<void> | void;
    readonly onEntered?: (state: EnteredState) => void;
    /** Time that passes on the test's clock before each task */
    readonly passMs?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Execution> {
  const { services = migration.services, onTask = () => {}, passMs = 5_000, ...rest } = options;
  const { tasks, failure } = await executeMachine({
    runId: RUN,
    services,
    ...rest,
    beforeTask: async (state) => {
      await onTask(state);
      await migration.letTimePass(passMs);
    },
  });
  return { tasks, failure: failure?.name };
}
