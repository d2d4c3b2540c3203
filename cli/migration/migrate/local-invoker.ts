// Runs the migration's functions in this process, with the services that environment variables name.
import { setTimeout } from 'node:timers/promises';
import { PATIENT_PACE } from '../../../lib/migration/adapters/qdrant/transport.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import type { RunRecords } from '../../../lib/migration/runs/run-store.ts';
import type { Services } from '../../../lib/migration/services.ts';
import {
  openBackend,
  openRecords,
  openServices,
} from '../../../lib/migration/services-from-environment.ts';
import { readRecordSettings, readStepSettings } from '../../../lib/migration/settings.ts';
import { runBackendCheck } from '../../../lib/migration/steps/preflight.ts';
import { ConfigurationError } from '../../../lib/shared/errors.ts';
import type { RetryPolicy } from '../../../lib/shared/retry.ts';
import { firstLine, UserError } from '../../../lib/shared/user-error.ts';
import { ensureTable } from '../../../local/create-table.ts';
import type { Resources } from '../../../processes/resources.ts';
import { findDatabase } from '../../find-database.ts';
import { FUNCTIONS, type FunctionName } from './commands.ts';
import type { Invoker, Needs } from './invoker.ts';

/** Records and services, each opened only when a function needs it */
export interface Sources {
  /** Name and address of the table with the runs */
  readonly where: string;
  readonly records: () => Promise<RunRecords>;
  readonly services: () => Promise<Services>;
}

export interface LocalOptions {
  readonly resources: Resources;
  /** Services whose variables are checked before any connection is opened */
  readonly needs: Needs;
  readonly signal: AbortSignal;
  /** Receives a line about a service that does not respond */
  readonly onWaiting: (line: string) => void;
  /** Receives the functions' log entries, so that they are not printed as JSON between lines of progress */
  readonly log: Services['log'];
}

/** @throws Refusal naming every variable that is missing or unusable */
export async function openLocalInvoker(options: LocalOptions): Promise<Invoker> {
  if (options.needs === 'backend') return openBackendInvoker();
  const readSettings = options.needs === 'services' ? readStepSettings : readRecordSettings;
  // Refuses missing variables, such as TABLE_NAME, before a database is started.
  readSettings(process.env);
  const { endpoint, tableName } = await reachTable(options.resources);
  const environment = { ...process.env, DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: tableName };
  const records = openRecords(environment);
  let services: Promise<Services> | undefined;
  return createLocalInvoker({
    where: `table ${tableName} at ${endpoint ?? `AWS (${process.env.AWS_REGION ?? 'no AWS_REGION'})`}`,
    records: async () => records,
    services: () => {
      const { log } = options;
      services ??= openServices(environment, {
        pace: shortenRetries(PATIENT_PACE, options),
        log,
      });
      return services;
    },
  });
}

/**
 * Opens only the memory backend, without a table or a store.
 * @throws Refusal naming every variable that is missing or unusable
 */
async function openBackendInvoker(): Promise<Invoker> {
  const backend = await openBackend(process.env);
  return {
    stage: undefined,
    where: 'no table',
    invoke: async (name, payload) => {
      if (name === 'preflight') {
        return await runBackendCheck({ backend, clock: () => new Date() }, payload);
      }
      throw new Refusal('RefusedUnknownRun', 'Only the backend is checked.');
    },
  };
}

export function createLocalInvoker({ where, records, services }: Sources): Invoker {
  return {
    stage: undefined,
    where,
    invoke: (name: FunctionName, payload, interruption) => {
      const migrationFunction = FUNCTIONS[name];
      const handle =
        migrationFunction.uses === 'record'
          ? migrationFunction.createHandler(records)
          : migrationFunction.createHandler(services);
      // Unlike Lambda, this process sets no time limit.
      const getRemainingTimeInMillis = () => Number.POSITIVE_INFINITY;
      return handle(payload, { getRemainingTimeInMillis, ...(interruption && { interruption }) });
    },
  };
}

async function reachTable(resources: Resources) {
  try {
    const database = await findDatabase(resources, process.env);
    const { endpoint, tableName } = database;
    // No deployment creates the table in a local data folder, so it is created here.
    if (endpoint && !process.env.DYNAMODB_ENDPOINT) await ensureTable(endpoint, tableName);
    return database;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const table = `The runs are in table ${process.env.TABLE_NAME}.`;
    throw new ConfigurationError(`${table} ${error.message}`, { cause: error });
  }
}

const STORE_DEADLINE_SECONDS = 30;
const REPORT_EVERY_MS = 5_000;

/**
 * Shortens a retry policy: a person at the terminal does not wait as long for an unavailable store as a Lambda function does.
 */
export function shortenRetries(
  policy: RetryPolicy,
  { signal, onWaiting }: Pick<LocalOptions, 'signal' | 'onWaiting'>,
): RetryPolicy {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    ...policy,
    deadlineMs: STORE_DEADLINE_SECONDS * 1_000,
    sleep: (milliseconds) => setTimeout(milliseconds, undefined, { signal }),
    onRetry(error) {
      const now = policy.now();
      if (now - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = now;
      onWaiting(
        `Waiting for the vector store of QDRANT_URL, up to ${STORE_DEADLINE_SECONDS} s (${firstLine(error)})`,
      );
    },
  };
}
