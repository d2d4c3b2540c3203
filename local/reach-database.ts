// The database for a tool that runs beside `npm start` or without it.
import { existsSync } from 'node:fs';
import { FolderInUseError, openDataFolder } from './data-folder.ts';
import { startEmbeddedEngine } from './engine.ts';
import { speakLocally } from './local-access.ts';
import type { Running } from './running.ts';
import { readLocalSettings } from './settings.ts';
import { StartError } from './start-error.ts';

export interface ReachedDatabase {
  /** Undefined for the AWS region's own. */
  readonly endpoint: string | undefined;
  readonly tableName: string;
}

/**
 * DYNAMODB_ENDPOINT where it is set; the AWS region's own where TABLE_NAME is set without DATA_DIR; else the data
 * folder's: the database that a start has running there, or one that runs for as long as the tool does.
 * @throws StartError when there is none to be reached
 */
export async function reachDatabase(
  running: Running,
  environment: NodeJS.ProcessEnv,
): Promise<ReachedDatabase> {
  const { databaseEndpoint, dataFolder, tableName } = readLocalSettings(environment);
  if (!databaseEndpoint && environment.TABLE_NAME && !environment.DATA_DIR) {
    return { endpoint: undefined, tableName };
  }
  speakLocally(environment);
  return { endpoint: databaseEndpoint ?? (await openFolder(running, dataFolder)), tableName };
}

async function openFolder(running: Running, folder: string | undefined): Promise<string> {
  if (folder === undefined || !existsSync(folder)) {
    const where =
      folder === undefined ? 'Data in memory' : `The data folder ${folder} is not there and`;
    throw new StartError(
      `${where} cannot be opened; name a running database with DYNAMODB_ENDPOINT`,
    );
  }
  try {
    const { databaseFile, release } = openDataFolder(folder);
    running.whenStopping(release);
    return (await startEmbeddedEngine(running, databaseFile)).endpoint;
  } catch (error) {
    if (error instanceof FolderInUseError && error.endpoint) return error.endpoint;
    throw error;
  }
}
