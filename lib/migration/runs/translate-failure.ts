// The failures of stores and services as what the state machine and the operator know: refused, or worth another try.
import { ConfigurationError } from '../../errors.ts';
import { isRetryable } from '../../store/retryable-errors.ts';
import {
  DamagedDumpError,
  DanglingRelationshipError,
  GraphAccessDeniedError,
  GraphDriftedError,
  GraphRefusedError,
  GraphRestoreError,
  GraphUnavailableError,
  UnrestorableGraphError,
} from '../graph/graph-errors.ts';
import { GraphValueError } from '../graph/tagged-values.ts';
import { MissingArtifactError, RetainedArtifactError } from '../ports/artifacts.ts';
import {
  UnexpectedReplyError,
  VectorStoreAccessDeniedError,
  VectorStoreBodyTooLargeError,
  VectorStoreFullError,
  VectorStoreRefusedError,
  VectorStoreUnavailableError,
  WriteNotCompletedError,
} from '../ports/vector-store-errors.ts';
import { markFailure, whoseFailure } from '../ports/whose-failure.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { refusalByAws } from './aws-failures.ts';

/** Anything else is a fault in this program or one nobody has met yet, and goes by its own name. */
export function translateFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  if (cause instanceof Refusal || cause instanceof RetryableFailure) return cause;
  if (isOfVectorStore(cause)) markFailure(cause, 'The vector store of QDRANT_URL');
  // What nobody could connect to has a code, and not always a message.
  const { code = cause.name } = cause as NodeJS.ErrnoException;
  const why = `${whoseFailure(cause)}${cause.message || code}.`;
  if (isPassing(cause)) return new RetryableFailure('RetryableUnavailable', why, { cause });
  if (cause instanceof VectorStoreAccessDeniedError || cause instanceof GraphAccessDeniedError) {
    return new Refusal('RefusedCredentials', why, { cause });
  }
  if (cause instanceof VectorStoreFullError) return new Refusal('RefusedStoreFull', why, { cause });
  if (isSaidByStore(cause)) return new Refusal('RefusedByStore', why, { cause });
  if (cause instanceof GraphDriftedError) return new Refusal('RefusedNotFrozen', why, { cause });
  if (isFaultOfGraph(cause)) {
    return new Refusal('RefusedGraph', why, { cause });
  }
  if (cause instanceof GraphRestoreError) {
    return new Refusal('RefusedGraphTarget', why, { cause });
  }
  if (cause instanceof DamagedDumpError) {
    return new Refusal('RefusedBackupUnproved', why, { cause });
  }
  if (cause instanceof MissingArtifactError) {
    return new Refusal('RefusedMissingArtifact', why, { cause });
  }
  if (cause instanceof RetainedArtifactError) return new Refusal('RefusedRetained', why, { cause });
  if (cause instanceof ConfigurationError) return new Refusal('RefusedSetting', why, { cause });
  return refusalByAws(cause) ?? cause;
}

function isSaidByStore(error: Error): boolean {
  return (
    error instanceof VectorStoreRefusedError ||
    error instanceof VectorStoreBodyTooLargeError ||
    error instanceof UnexpectedReplyError
  );
}

function isOfVectorStore(error: Error): boolean {
  return error instanceof VectorStoreUnavailableError || error instanceof WriteNotCompletedError;
}

function isFaultOfGraph(error: Error): boolean {
  return (
    error instanceof GraphRefusedError ||
    error instanceof GraphValueError ||
    error instanceof UnrestorableGraphError ||
    error instanceof DanglingRelationshipError
  );
}

function isPassing(error: Error): boolean {
  return isOfVectorStore(error) || error instanceof GraphUnavailableError || isRetryable(error);
}
