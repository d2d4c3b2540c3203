// Executes the deployed definition of the state machine unchanged: each task calls the real handler of its function.
import { join } from 'node:path';
import { type ExecutionError, StateMachine } from 'aws-local-stepfunctions';
import type { Services } from '../../lib/migration/services.ts';
import { migrationMachine } from '../../serverless/migration/machine.ts';

const FUNCTIONS = join(import.meta.dirname, '../../functions/migration');

const definition = migrationMachine('rehearsal');

/** Extracts the name of a function's file from its ARN: `...-migrationBackup` becomes `backup`. */
function parseFunctionName(resource: string): string {
  return (resource.split('-migration').at(-1) ?? '').toLowerCase();
}

export interface EnteredState {
  readonly name: string;
  readonly type: string;
  readonly input: unknown;
}

export interface Execution {
  /** Names of the executed tasks, in order. */
  readonly tasks: readonly string[];
  /** Error of the execution; undefined if it succeeded. */
  readonly failure: Error | undefined;
}

/**
 * @param beforeTask called before each task. The definition's pauses are skipped, so this function can advance the clock
 * @param waitMs real wait in place of each wait for a service in the definition; `as-defined` to keep the defined one
 */
export async function execute(options: {
  readonly runId: string;
  readonly services: Services;
  readonly beforeTask: (state: string) => Promise<void>;
  readonly waitMs?: number | 'as-defined';
  /** Called for each state that is entered, of any type. */
  readonly onEntered?: (state: EnteredState) => void;
  /** Stops the execution, as an operator may. */
  readonly signal?: AbortSignal | undefined;
}): Promise<Execution> {
  const { runId, services, beforeTask, waitMs = 0, onEntered = () => {}, signal } = options;
  const tasks: string[] = [];
  const handlers = await loadHandlers(services, async (state) => {
    tasks.push(state);
    await beforeTask(state);
  });
  const machine = new StateMachine(definition as never, { validationOptions: { checkArn: false } });
  const overrides = {
    taskResourceLocalHandlers: handlers as never,
    waitTimeOverrides: {
      AwaitApproval: 0,
      ...(waitMs === 'as-defined' ? {} : { Wait: waitMs, AwaitPerson: waitMs }),
    },
    retryIntervalOverrides: createZeroPauses(),
  };
  try {
    const running = machine.run({ runId }, { overrides });
    signal?.addEventListener('abort', () => running.abort());
    const listening = (async () => {
      for await (const event of running.eventLogs) {
        if (event.type === 'StateEntered') onEntered(event.state);
      }
    })();
    await Promise.all([running.result, listening]);
    return { tasks, failure: undefined };
  } catch (error) {
    // The interpreter wraps the error with which the state machine failed.
    return { tasks, failure: ((error as ExecutionError).cause ?? error) as Error };
  }
}

async function loadHandlers(services: Services, beforeTask: (state: string) => Promise<void>) {
  const handlers: Record<string, (payload: unknown) => Promise<unknown>> = {};
  for (const [state, { Resource }] of Object.entries(definition.States)) {
    if (!Resource) continue;
    const { createHandler } = await import(join(FUNCTIONS, `${parseFunctionName(Resource)}.ts`));
    const handler = createHandler(async () => services);
    handlers[state] = async (payload) => {
      await beforeTask(state);
      return await handler(payload, { getRemainingTimeInMillis: () => 600_000 });
    };
  }
  return handlers;
}

function createZeroPauses(): Record<string, number> {
  return Object.fromEntries(Object.keys(definition.States).map((state) => [state, 0]));
}
