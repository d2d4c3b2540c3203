// What the environment of the command line names, checked as a whole before anything is opened.
import { ConfigurationError } from '../../lib/errors.ts';
import { PATIENT_PACE } from '../../lib/migration/adapters/qdrant/transport.ts';
import type { Services } from '../../lib/migration/services.ts';
import {
  rememberingFromEnvironment,
  servicesFromEnvironment,
} from '../../lib/migration/services-from-environment.ts';
import { readRecordSettings, readStepSettings } from '../../lib/migration/settings.ts';
import { reachDatabase } from '../reach-database.ts';
import type { Running } from '../running.ts';
import { DEFAULT_TABLE_NAME } from '../settings.ts';
import { StartError } from '../start-error.ts';
import { type CommandName, commandNamed } from './commands.ts';
import { createHere } from './here.ts';
import type { Place } from './place.ts';
import { tellingPace } from './telling-pace.ts';

/** @throws Refusal naming every variable that the command needs and that is missing or unusable */
export async function openHere(command: CommandName, running: Running): Promise<Place> {
  const readSettings =
    commandNamed(command).uses === 'the record' ? readRecordSettings : readStepSettings;
  const TABLE_NAME = process.env.TABLE_NAME || DEFAULT_TABLE_NAME;
  readSettings({ ...process.env, TABLE_NAME });
  const { endpoint, tableName } = await reach(running);
  const named = { ...process.env, DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: tableName };
  const remembering = rememberingFromEnvironment(named);
  let services: Promise<Services> | undefined;
  return createHere({
    remembering: async () => remembering,
    services: () => {
      services ??= servicesFromEnvironment(named, {
        pace: tellingPace(PATIENT_PACE, (line) => console.error(line)),
      });
      return services;
    },
  });
}

async function reach(running: Running) {
  try {
    return await reachDatabase(running, process.env);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    throw new ConfigurationError(error.message, { cause: error });
  }
}
