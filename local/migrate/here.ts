// The functions in this process, with the services that its environment names.
import type { Remembering } from '../../lib/migration/runs/remembering.ts';
import type { Services } from '../../lib/migration/services.ts';
import { commandNamed, type MigrateCommand } from './commands.ts';
import type { Place } from './place.ts';

/** No function's time is up here. */
const CONTEXT = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

/** Each is asked for only by a command that needs it. */
export interface Sources {
  readonly remembering: () => Promise<Remembering>;
  readonly services: () => Promise<Services>;
}

export function createHere(sources: Sources): Place {
  return {
    stage: undefined,
    invoke: (name, payload) => handlerOf(commandNamed(name), sources)(payload, CONTEXT),
  };
}

function handlerOf(command: MigrateCommand, { remembering, services }: Sources) {
  return command.uses === 'the record'
    ? command.createHandler(remembering)
    : command.createHandler(services);
}
