// The deployed definition, executed as it is: each task is its function's own handler, and waiting turns the clock.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExecutionError, StateMachine } from 'aws-local-stepfunctions';
import type { Services } from '../../../lib/migration/services.ts';
import { type Migration, RUN } from './migration.ts';

const FUNCTIONS = join(import.meta.dirname, '../../../functions/migration');

export interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, StateDefinition>>;
}

export interface StateDefinition {
  readonly Type: string;
  readonly Resource?: string;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly { readonly ErrorEquals: readonly string[] }[];
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
}

export function readDefinition(): Definition {
  return JSON.parse(readFileSync(join(FUNCTIONS, 'memory-migration.asl.json'), 'utf8'));
}

/** `...-migrationBackup` -> `backup` */
export function functionOf(resource: string): string {
  return (resource.split('-migration').at(-1) ?? '').toLowerCase();
}

export interface Execution {
  /** Names of the states that were tasks, in order. */
  readonly tasks: readonly string[];
  /** The error it failed with; undefined when it succeeded. */
  readonly failure: string | undefined;
}

/** @param onTask is told of each task before it is carried out */
export async function execute(
  migration: Migration,
  options: {
    readonly services?: Services;
    readonly onTask?: (state: string) => Promise<void> | void;
  } = {},
): Promise<Execution> {
  const { services = migration.services, onTask = () => {} } = options;
  const definition = readDefinition();
  const tasks: string[] = [];
  const handlers = await handlersOf(definition, services, async (state) => {
    tasks.push(state);
    await onTask(state);
    // Nobody waits here: the clock is turned by what a poll would take.
    migration.pass(5_000);
  });
  const machine = new StateMachine(definition as never, {
    validationOptions: { checkArn: false },
  });
  const execution = machine.run({ runId: RUN }, {
    overrides: {
      taskResourceLocalHandlers: handlers as never,
      waitTimeOverrides: { AwaitApproval: 0, Wait: 0 },
      retryIntervalOverrides: noPauses(definition),
    },
  } as never);
  try {
    await execution.result;
    return { tasks, failure: undefined };
  } catch (error) {
    // The interpreter wraps what the state machine failed with.
    return { tasks, failure: ((error as ExecutionError).cause as Error).name };
  }
}

async function handlersOf(
  definition: Definition,
  services: Services,
  onTask: (state: string) => Promise<void>,
) {
  const entries = Object.entries(definition.States).flatMap(([state, { Resource }]) =>
    Resource ? [[state, functionOf(Resource)] as const] : [],
  );
  const handlers: Record<string, (payload: unknown) => Promise<unknown>> = {};
  for (const [state, name] of entries) {
    const { createHandler } = await import(join(FUNCTIONS, `${name}.ts`));
    const handler = createHandler(async () => services);
    handlers[state] = async (payload) => {
      await onTask(state);
      return await handler(payload, { getRemainingTimeInMillis: () => 600_000 });
    };
  }
  return handlers;
}

function noPauses(definition: Definition): Record<string, number> {
  return Object.fromEntries(Object.keys(definition.States).map((state) => [state, 0]));
}
