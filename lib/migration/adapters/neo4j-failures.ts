// What a failure of the Neo4j driver means to the migration.
import { Neo4jError } from 'neo4j-driver';
import { GraphAccessDeniedError, GraphUnavailableError } from '../graph/graph-errors.ts';

/** The error to throw in its place; the error itself where it means nothing special. */
export function translateFailure(cause: unknown): unknown {
  if (!(cause instanceof Neo4jError)) return cause;
  if (cause.retryable || cause.code.includes('.TransactionTimedOut')) {
    return new GraphUnavailableError(`The graph is not available: ${cause.code}`, { cause });
  }
  if (cause.code.startsWith('Neo.ClientError.Security.')) {
    return new GraphAccessDeniedError(`The graph refuses the credentials: ${cause.code}`, {
      cause,
    });
  }
  return cause;
}
