// What the environment of the command line names, checked as a whole before anything is opened.
import { ConfigurationError } from '../../lib/errors.ts';
import { PATIENT_PACE } from '../../lib/migration/adapters/qdrant/transport.ts';
import type { Services } from '../../lib/migration/services.ts';
import {
  rememberingFromEnvironment,
  servicesFromEnvironment,
} from '../../lib/migration/services-from-environment.ts';
import { readRecordSettings, readStepSettings } from '../../lib/migration/settings.ts';
import type { Pace } from '../../lib/retry.ts';
import { reachDatabase } from '../reach-database.ts';
import type { Running } from '../running.ts';
import { DEFAULT_TABLE_NAME } from '../settings.ts';
import { StartError } from '../start-error.ts';
import { type CommandName, commandNamed } from './commands.ts';
import { createHere } from './here.ts';
import type { Place } from './place.ts';

// A person would rather be told than wait as long as a function does.
const STORE_PATIENCE_SECONDS = 30;
const TOLD_EVERY_MS = 5_000;

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
      services ??= servicesFromEnvironment(named, { pace: tellingPace() });
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

function tellingPace(): Pace {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    ...PATIENT_PACE,
    deadlineMs: STORE_PATIENCE_SECONDS * 1_000,
    onAnother(error) {
      const now = PATIENT_PACE.now();
      if (now - toldAt < TOLD_EVERY_MS) return;
      toldAt = now;
      const why = error instanceof Error ? error.message : String(error);
      console.error(
        `waiting for the vector store of QDRANT_URL, up to ${STORE_PATIENCE_SECONDS} s (${why})`,
      );
    },
  };
}
