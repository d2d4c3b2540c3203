// The functions in this process, with the services that its environment names.
import type { Services } from '../../lib/migration/services.ts';
import { commandNamed } from './commands.ts';
import type { Place } from './place.ts';

/** No function's time is up here. */
const CONTEXT = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

export function createHere(services: () => Promise<Services>): Place {
  return {
    stage: undefined,
    invoke: (name, payload) => commandNamed(name).createHandler(services)(payload, CONTEXT),
  };
}
