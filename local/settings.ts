// Reads the settings of the local service from environment variables.

import { UserError } from '../lib/shared/user-error.ts';
import { isOrigin, readOrigins } from '../serverless/parameters.ts';

export interface LocalSettings {
  /** Port of the API. */
  readonly port: number;
  /** Folder of the database's data; undefined to keep the data in memory. */
  readonly dataFolder: string | undefined;
  /** Address of a running database. If it is set, no other database is started. */
  readonly databaseEndpoint: string | undefined;
  readonly tableName: string;
  /** Browser origins that may send requests; `*` for any. */
  readonly allowedOrigins: readonly string[];
}

/** Table that `npm start` uses by default. */
export const DEFAULT_TABLE_NAME = 'finance-ledger-local';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads PORT, DATA_DIR, DYNAMODB_ENDPOINT, TABLE_NAME and ALLOWED_ORIGINS; an empty variable counts as unset.
 * @throws UserError that names a variable with an invalid value
 */
export function readLocalSettings(environment: Environment): LocalSettings {
  const dataDir = environment.DATA_DIR || '.local/data';
  const port = parsePort(environment.PORT || '3000');
  return {
    port,
    dataFolder: dataDir === 'memory' ? undefined : dataDir,
    databaseEndpoint: parseEndpoint(environment.DYNAMODB_ENDPOINT || undefined),
    tableName: parseTableName(environment.TABLE_NAME || DEFAULT_TABLE_NAME),
    // The service's own pages may call the API, whichever of these addresses the browser used.
    allowedOrigins: [
      `http://localhost:${port}`,
      `http://127.0.0.1:${port}`,
      `http://[::1]:${port}`,
      ...parseOrigins(environment.ALLOWED_ORIGINS),
    ],
  };
}

function parsePort(value: string): number {
  const number = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > 65535) {
    throw new UserError(`PORT must be a whole number from 1 to 65535, not "${value}"`);
  }
  return number;
}

function parseEndpoint(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!/^(https?|unix):$/.test(URL.parse(value)?.protocol ?? '')) {
    throw new UserError(
      `DYNAMODB_ENDPOINT must be an address like http://localhost:8000, or the one that "npm start" prints, not "${value}"`,
    );
  }
  if (isAwsHost(new URL(value).hostname)) {
    throw new UserError(`DYNAMODB_ENDPOINT must not be an AWS address, such as "${value}"`);
  }
  return value;
}

export function isAwsHost(hostname: string): boolean {
  return /(^|\.)(amazonaws\.com(\.cn)?|api\.aws)$/.test(hostname);
}

function parseOrigins(value: string | undefined): string[] {
  if (!value) return [];
  const list = readOrigins(value);
  const invalidOrigin = list.find((origin) => !isOrigin(origin));
  if (invalidOrigin === undefined) return list;
  throw new UserError(
    `ALLOWED_ORIGINS must be origins like http://localhost:5173, separated by commas, not "${invalidOrigin}"`,
  );
}

function parseTableName(value: string): string {
  if (!/^[\w.-]{3,255}$/.test(value)) {
    throw new UserError(
      `TABLE_NAME must be 3 to 255 letters, digits, "_", "-" or ".", not "${value}"`,
    );
  }
  return value;
}
