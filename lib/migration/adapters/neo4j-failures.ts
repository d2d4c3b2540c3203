// What a failure of the Neo4j driver means to the migration.
import { Neo4jError } from 'neo4j-driver';
import {
  GraphAccessDeniedError,
  GraphRefusedError,
  GraphUnavailableError,
} from '../graph/graph-errors.ts';

// Beside what the driver calls retryable. Without a code: the driver's own, when no connection came in time.
const PASSING = /\.TransactionTimedOut|^N\/A$/;

/** The error to throw in its place; the error itself where it is none of the driver's. */
export function translateFailure(cause: unknown): unknown {
  if (!(cause instanceof Neo4jError)) return cause;
  if (cause.retryable || PASSING.test(cause.code)) {
    return new GraphUnavailableError(`The graph of NEO4J_URL is not available: ${cause.code}`, {
      cause,
    });
  }
  if (cause.code.startsWith('Neo.ClientError.Security.')) {
    return new GraphAccessDeniedError(
      `The graph of NEO4J_URL refuses the credentials: ${cause.code}`,
      {
        cause,
      },
    );
  }
  return new GraphRefusedError(cause.code, { cause });
}
