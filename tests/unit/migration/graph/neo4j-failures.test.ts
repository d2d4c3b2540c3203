import { Neo4jError } from 'neo4j-driver';
import { expect, test } from 'vitest';
import { openNeo4j } from '../../../../lib/migration/adapters/neo4j.ts';
import { translateFailure } from '../../../../lib/migration/adapters/neo4j-failures.ts';
import { findFreePort } from '../../../../local/free-port.ts';

test.each([
  ['ServiceUnavailable', 'GraphUnavailableError'],
  ['N/A', 'GraphUnavailableError'],
  ['SessionExpired', 'GraphUnavailableError'],
  ['Neo.TransientError.Transaction.DeadlockDetected', 'GraphUnavailableError'],
  ['Neo.ClientError.Transaction.TransactionTimedOut', 'GraphUnavailableError'],
  ['Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration', 'GraphUnavailableError'],
  ['Neo.ClientError.Security.AuthorizationExpired', 'GraphUnavailableError'],
  ['Neo.ClientError.Security.Unauthorized', 'GraphAccessDeniedError'],
  ['Neo.ClientError.Security.Forbidden', 'GraphAccessDeniedError'],
  ['Neo.ClientError.Statement.SyntaxError', 'GraphRefusedError'],
  ['Neo.ClientError.Procedure.ProcedureNotFound', 'GraphRefusedError'],
])('The failure %s is a %s', (code, name) => {
  const cause = new Neo4jError('said so', code, '50N42', 'said so');
  expect(translateFailure(cause)).toMatchObject({ name });
});

test('Any other error stays what it is', () => {
  const error = new TypeError('a mistake of ours');
  expect(translateFailure(error)).toBe(error);
});

test('A graph that nobody serves is unavailable', async () => {
  await using graph = openNeo4j({
    url: `bolt://127.0.0.1:${await findFreePort()}`,
    user: 'neo4j',
    password: '',
    patienceMs: 0,
  });
  const unavailable = expect.objectContaining({ name: 'GraphUnavailableError' });
  await expect(graph.server()).rejects.toThrow(unavailable);
  await expect(Array.fromAsync(graph.nodes())).rejects.toThrow(unavailable);
});
