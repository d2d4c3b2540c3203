// The Neo4j adapter: how it names errors, and which database it opens
import neo4j, { Neo4jError } from 'neo4j-driver';
import { expect, test, vi } from 'vitest';
import { openNeo4j, translateDriverError } from '../../../../lib/migration/adapters/neo4j.ts';
import { findFreePort } from '../../../../processes/free-port.ts';

test.each([
  ['ServiceUnavailable', 'RetryableUnavailable'],
  ['N/A', 'RetryableUnavailable'],
  ['SessionExpired', 'RetryableUnavailable'],
  ['Neo.TransientError.Transaction.DeadlockDetected', 'RetryableUnavailable'],
  ['Neo.ClientError.Transaction.TransactionTimedOut', 'RetryableUnavailable'],
  ['Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration', 'RetryableUnavailable'],
  ['Neo.ClientError.Security.AuthorizationExpired', 'RetryableUnavailable'],
  ['Neo.ClientError.Security.Unauthorized', 'RefusedCredentials'],
  ['Neo.ClientError.Security.Forbidden', 'RefusedCredentials'],
  ['Neo.ClientError.Statement.SyntaxError', 'RefusedByService'],
  ['Neo.ClientError.Procedure.ProcedureNotFound', 'RefusedByService'],
])('The failure %s is a %s', (code, name) => {
  const cause = new Neo4jError('a reason', code, '50N42', 'a reason');
  expect(translateDriverError(cause)).toMatchObject({ name });
});

test.each(['memories', undefined])('Sessions are opened in the database %s', async (database) => {
  const session = vi.fn(() => {
    throw new TypeError('No session');
  });
  const close = async () => {};
  vi.spyOn(neo4j, 'driver').mockReturnValueOnce({ session, close } as never);
  await using graph = openNeo4j({ url: 'bolt://graph', user: 'neo4j', password: '', database });
  await expect(graph.readPosition()).rejects.toThrow('No session');
  expect(session).toHaveBeenCalledWith(
    database ? expect.objectContaining({ database }) : expect.not.objectContaining({ database }),
  );
});

test('An error that is not from Neo4j is unchanged', () => {
  const error = new TypeError('a bug');
  expect(translateDriverError(error)).toBe(error);
});

test('A graph without a server is unavailable', async () => {
  await using graph = openNeo4j({
    url: `bolt://127.0.0.1:${await findFreePort()}`,
    user: 'neo4j',
    password: '',
    patienceMs: 0,
  });
  const unavailable = expect.objectContaining({ name: 'RetryableUnavailable' });
  await expect(graph.readServer()).rejects.toThrow(unavailable);
  await expect(Array.fromAsync(graph.streamNodes())).rejects.toThrow(unavailable);
});
