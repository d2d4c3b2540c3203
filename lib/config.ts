// The typed environment, read once per entry point.
import { ConfigurationError } from './errors.ts';

export interface LedgerConfig {
  /** The ledger whose records are served; a single one until callers are told apart. */
  readonly ledgerId: string;
  /** Name of the DynamoDB table. */
  readonly tableName: string;
  /** Endpoint of another DynamoDB than the region's own, e.g. a local one. */
  readonly dynamodbEndpoint: string | undefined;
  /** IANA time zone of "the current day". */
  readonly timeZone: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads TABLE_NAME, LEDGER_ID, TIME_ZONE and DYNAMODB_ENDPOINT.
 * @throws ConfigurationError naming the variable that is missing or unusable
 */
export function readLedgerConfig(environment: Environment): LedgerConfig {
  return {
    ledgerId: ledgerId(environment.LEDGER_ID || 'default'),
    tableName: required(environment, 'TABLE_NAME'),
    dynamodbEndpoint: environment.DYNAMODB_ENDPOINT || undefined,
    timeZone: timeZone(environment.TIME_ZONE || 'UTC'),
  };
}

function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (!value) throw new ConfigurationError(`${name} is not set`);
  return value;
}

// The id is a part of every key, and # is what parts the keys.
function ledgerId(value: string): string {
  if (!/^[\w-]{1,64}$/.test(value)) {
    throw new ConfigurationError('LEDGER_ID must be 1 to 64 letters, digits, "_" or "-"');
  }
  return value;
}

// The first use of Intl loads the time zones of the world, an eighth of a function's start; UTC needs none.
function timeZone(value: string): string {
  if (value === 'UTC') return value;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
  } catch (cause) {
    throw new ConfigurationError(`TIME_ZONE "${value}" is not a known time zone`, { cause });
  }
  return value;
}
