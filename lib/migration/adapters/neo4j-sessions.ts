// Sessions of Neo4j's driver: one for each piece of work, closed when the work is over or has failed. Their failures are
// those of the migration.
import {
  type Driver,
  Neo4jError,
  type RecordShape,
  type Record as Row,
  type Session,
  type SessionMode,
} from 'neo4j-driver';
import { Refusal, RetryableFailure } from '../refusals.ts';

export type Neo4jSessions = ReturnType<typeof createSessions>;

// With embeddings a row has some ten kilobytes: about this many are in memory at a time.
const FETCH_SIZE = 100;
// A server may limit how long transactions take, which a long read would exceed: 0 lifts the limit.
const UNLIMITED = { timeout: 0 };

// In the user's home database.
export function createSessions(driver: Driver) {
  const open = (defaultAccessMode: SessionMode): Session =>
    driver.session({ defaultAccessMode, fetchSize: FETCH_SIZE });

  /** Rows as they come, no faster than they are taken. */
  // An explicit transaction, not executeRead: its own retries would start again from the first row in the middle of the stream.
  async function* rows<Shape extends RecordShape>(statement: string): AsyncGenerator<Row<Shape>> {
    const session = open('READ');
    try {
      const transaction = await session.beginTransaction(UNLIMITED);
      yield* transaction.run<Shape>(statement);
      await transaction.commit();
    } catch (error) {
      throw failureOf(error);
    } finally {
      await session.close();
    }
  }

  async function within<Result>(mode: SessionMode, work: (session: Session) => Promise<Result>) {
    const session = open(mode);
    try {
      return await work(session);
    } catch (error) {
      throw failureOf(error);
    } finally {
      await session.close();
    }
  }

  /** Reads one row, and says up to which transaction the graph was then. */
  const readOne = <Shape extends RecordShape>(statement: string) =>
    within('READ', async (session) => {
      const result = await session.executeRead((transaction) => transaction.run<Shape>(statement));
      const [row] = result.records;
      if (!row) throw new Error(`The graph has no answer to: ${statement}`);
      return { row, bookmarks: session.lastBookmarks() };
    });

  const write = <Result>(work: (session: Session) => Promise<Result>) => within('WRITE', work);

  return { rows, readOne, write };
}

// Beside what the driver calls retryable. Without a code: the driver's own, when no connection came in time.
const PASSING = /\.TransactionTimedOut|^N\/A$/;

/** What a failure of the driver means; the error itself where it is none of the driver's. */
export function failureOf(cause: unknown): unknown {
  if (!(cause instanceof Neo4jError)) return cause;
  const { code, retryable } = cause;
  const options = { cause, answer: code };
  if (retryable || PASSING.test(code)) {
    const why = `The graph of NEO4J_URL is not available: ${code}.`;
    return new RetryableFailure('RetryableUnavailable', why, options);
  }
  // Only the code: the message may quote what is in the graph.
  return code.startsWith('Neo.ClientError.Security.')
    ? new Refusal('RefusedCredentials', `The graph refuses the credentials: ${code}.`, options)
    : new Refusal('RefusedByService', `The graph refuses the request: ${code}.`, options);
}
