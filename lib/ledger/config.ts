// Reads and checks the environment, once per entry point.

import { ConfigurationError } from '../shared/errors.ts';
import type { TokenIssuer } from './auth/access-tokens.ts';

export interface LedgerConfig {
  /** The ledger of requests without a key or token; undefined if each request needs one. */
  readonly ledgerId: string | undefined;
  /** Undefined if only API keys are accepted. */
  readonly issuer: TokenIssuer | undefined;
  /** Name of the DynamoDB table. */
  readonly tableName: string;
  /** Endpoint of a DynamoDB other than the region's own, such as a local one. */
  readonly dynamodbEndpoint: string | undefined;
  /** IANA time zone of "the current day". */
  readonly timeZone: string;
}

export const LEDGER_ID = {
  pattern: /^[\w-]{1,64}$/,
  rule: '1 to 64 letters, digits, "_" or "-"',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads TABLE_NAME, AUTH, LEDGER_ID, AUTH_ISSUER, AUTH_AUDIENCE, TIME_ZONE and DYNAMODB_ENDPOINT.
 * Authentication is required unless AUTH is "open".
 * @throws ConfigurationError naming the variable that is missing or unusable
 */
export function readLedgerConfig(environment: Environment): LedgerConfig {
  return {
    ledgerId: isAuthOpen(environment.AUTH) ? readLedgerId(environment) : undefined,
    issuer: readIssuer(environment),
    tableName: readRequired(environment, 'TABLE_NAME'),
    dynamodbEndpoint: environment.DYNAMODB_ENDPOINT || undefined,
    timeZone: checkTimeZone(environment.TIME_ZONE || 'UTC'),
  };
}

function readRequired(environment: Environment, name: string): string {
  const value = environment[name];
  if (!value) throw new ConfigurationError(`${name} is not set`);
  return value;
}

function isAuthOpen(value = ''): boolean {
  if (['', 'required', 'open'].includes(value)) return value === 'open';
  throw new ConfigurationError('AUTH must be "required" or "open"');
}

function readIssuer({ AUTH_ISSUER, AUTH_AUDIENCE }: Environment): TokenIssuer | undefined {
  if (!AUTH_ISSUER && !AUTH_AUDIENCE) return undefined;
  if (!AUTH_ISSUER || !AUTH_AUDIENCE) {
    throw new ConfigurationError(
      'AUTH_ISSUER and AUTH_AUDIENCE must be set together or not at all',
    );
  }
  if (URL.parse(AUTH_ISSUER)?.protocol !== 'https:') {
    throw new ConfigurationError(`AUTH_ISSUER must be an https address, not "${AUTH_ISSUER}"`);
  }
  return { issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE };
}

/**
 * Reads LEDGER_ID, which is part of every key of the table.
 * @throws ConfigurationError
 */
export function readLedgerId(environment: Environment): string {
  const value = environment.LEDGER_ID || 'default';
  if (LEDGER_ID.pattern.test(value)) return value;
  throw new ConfigurationError(`LEDGER_ID must be ${LEDGER_ID.rule}`);
}

// UTC is not checked, because the first use of Intl loads all time zones, which takes an eighth of a function's cold start.
function checkTimeZone(value: string): string {
  if (value === 'UTC') return value;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
  } catch (cause) {
    throw new ConfigurationError(`TIME_ZONE "${value}" is not a known time zone`, { cause });
  }
  return value;
}
