// Environment of a migration's functions: every missing and every invalid value is named, all at once.
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { Neo4jError } from 'neo4j-driver';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { translateDriverError } from '../../../lib/migration/adapters/neo4j.ts';
import { namedClient, translateFailure } from '../../../lib/migration/runs/failures.ts';
import type { Services } from '../../../lib/migration/services.ts';
import {
  openBackend,
  openRecords,
  openServices,
} from '../../../lib/migration/services-from-environment.ts';
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { DEFAULT_RETRY_POLICY } from '../../../lib/shared/retry.ts';
import { failureNamed } from '../support/refused.ts';

const COMPLETE: Readonly<Record<string, string>> = {
  TABLE_NAME: 'table',
  QDRANT_URL: 'http://127.0.0.1:6333',
  MEMORY_BACKEND_URL: 'http://127.0.0.1:8000',
  MEMORY_BACKEND_KEY: 'key',
  COLLECTION_SETTING: 'file:///etc/memory/collection',
  ARTIFACTS_URL: 'file:///var/artifacts',
};

const WITHOUT_DEADLINE = { testUser: 't', deadlineAt: undefined };

async function captureRefusal(environment: Record<string, string>): Promise<string> {
  const error = await openServices(environment).then(
    () => new Error('accepted'),
    (error: Error) => error,
  );
  expect(error).toEqual(failureNamed('RefusedSetting'));
  return error.message;
}

describe('the environment', () => {
  it('of the guide is sufficient, with a person instead of a webhook', async () => {
    const services = await openServices(COMPLETE);
    expect(services).toMatchObject({ preview: undefined, graph: undefined });
    const request = {
      action: 'freeze',
      runId: 'r',
      occasion: 'window-7',
      collection: 'c',
    } as const;
    const outcome = services.hooks.ask({ ...request, ...WITHOUT_DEADLINE });
    expect(await outcome).toBe('asked-of-a-person');
  });

  it.each(Object.keys(COMPLETE))('is refused if %s is missing or empty', async (name) => {
    const { [name]: _, ...others } = COMPLETE;
    const message = await captureRefusal(others);
    expect(message).toMatch(new RegExp(`^${name} is not set.*Set or correct the named variable`));
    expect(await captureRefusal({ ...COMPLETE, [name]: '' })).toBe(message);
  });

  it("needs only the backend's variables for a check of the backend", async () => {
    const { MEMORY_BACKEND_URL, MEMORY_BACKEND_KEY } = COMPLETE;
    const environment = { MEMORY_BACKEND_URL, MEMORY_BACKEND_KEY };
    expect(await openBackend(environment)).toHaveProperty('findMissing');
    await expect(openBackend({ QDRANT_URL: 'not-a-url' })).rejects.toEqual(
      failureNamed('RefusedSetting', 'MEMORY_BACKEND_URL is not set'),
    );
  });

  it('is refused with every problem in one message', async () => {
    const message = await captureRefusal({ NEO4J_URL: 'http://graph.example:7474' });
    for (const name of Object.keys(COMPLETE)) expect(message).toContain(`${name} is not set`);
    expect(message).toContain('MEMORY_BACKEND_KEY_PARAMETER');
    expect(message).toContain('NEO4J_URL is not like');
  });

  it.each([
    ['TABLE_NAME', 'a table', /not a table name/],
    ['DYNAMODB_ENDPOINT', 'localhost:8000', /like http:\/\/localhost:8000/],
    ['QDRANT_URL', 'not-a-url', /like https:\/\/qdrant\.example:6333/],
    ['QDRANT_URL', 'qdrant.example:6333', /like https:/],
    ['QDRANT_URL', 'https://qdrant.example?tenant=1', /like https:/],
    ['QDRANT_URL', 'https://ada:secret@qdrant.example', /like https:/],
    ['NEO4J_URL', 'bolt://ada:secret@graph.example:7687', /neo4j\+s:/],
    ['MEMORY_BACKEND_URL', 'https://ada:secret@memory.example', /like https:/],
    ['MEMORY_PREVIEW_URL', '//preview', /like https:/],
    ['MEMORY_BACKEND_PATHS', 'find=/search', /search=\/search.*: health, memories, search/],
    ['MEMORY_BACKEND_PATHS', 'search=search', /search=\/search/],
    ['COLLECTION_SETTING', 'https://example.org', /file:\/\/\/path or ssm:\/parameter/],
    ['COLLECTION_SETTING', 'ssm:', /file:\/\/\/path or ssm:\/parameter/],
    ['ARTIFACTS_URL', 'ftp://example.org', /s3:\/\/bucket\/prefix or file:\/\/\/folder/],
    ['ARTIFACTS_BUCKET_OWNER', 'ourselves', /12 digits/],
    ['ARTIFACTS_URL', 's3:///prefix', /s3:\/\/bucket\/prefix/],
    ['NEO4J_URL', 'http://graph.example:7474', /neo4j\+s:/],
    ['NEO4J_URL', 'neo4j://graph.example:7687/memories', /path.* NEO4J_DATABASE/],
    ['NEO4J_DATABASE', 'my memories', /not a database name/],
    ['MIGRATION_WEBHOOK_URL', 'hooks.example', /https:\/\/hooks\.example/],
  ])(
    'with %s as %s is refused with the expected form, without quoting the value',
    async (name, value, like) => {
      const message = await captureRefusal({ ...COMPLETE, [name]: value, NEO4J_PASSWORD: 'p' });
      expect(message).toMatch(new RegExp(`^${name} is .*${like.source}`));
      expect(message).not.toContain('secret');
    },
  );

  it('with a graph needs the password, or the parameter that contains it', async () => {
    const withGraph = { ...COMPLETE, NEO4J_URL: 'neo4j+s://graph.example' };
    expect(await captureRefusal(withGraph)).toContain('NEO4J_PASSWORD is not set');
  });

  it.each([
    ['preview', 'MEMORY_PREVIEW_URL', 'http://127.0.0.1:8001'],
    ...['neo4j', 'neo4j+s', 'neo4j+ssc', 'bolt', 'bolt+s', 'bolt+ssc'].map(
      (scheme) => ['graph', 'NEO4J_URL', `${scheme}://graph.example:7687`] as const,
    ),
  ] as const)('may configure a %s by %s=%s', async (service, variable, url) => {
    const added = { [variable]: url, NEO4J_PASSWORD: 'p' };
    const services = await openServices({ ...COMPLETE, ...added });
    expect(services[service]).toBeDefined();
  });
});

describe('the functions that only read or write records', () => {
  it('need only the table', () => {
    expect(openRecords({ TABLE_NAME: 'table' })).toHaveProperty('runs');
    expect(() => openRecords({})).toThrow(failureNamed('RefusedSetting'));
  });
});

describe('a service that does not answer', () => {
  // Nothing listens at this port. Messages must not contain the address, because an address can contain a secret.
  const NOWHERE = 'http://127.0.0.1:1';
  const UNREACHABLE = {
    ...COMPLETE,
    DYNAMODB_ENDPOINT: NOWHERE,
    QDRANT_URL: NOWHERE,
    MEMORY_BACKEND_URL: NOWHERE,
    MEMORY_BACKEND_KEY: 'secret-key',
    MEMORY_PREVIEW_URL: NOWHERE,
    MIGRATION_WEBHOOK_URL: `${NOWHERE}/secret-path`,
    MIGRATION_WEBHOOK_TOKEN: 'secret-token',
    COLLECTION_SETTING: 'ssm:/memory/collection',
    ARTIFACTS_URL: 's3://bucket',
  };
  const FREEZE = { action: 'freeze', runId: 'r', occasion: 'window-7', collection: 'c' } as const;
  const pace = { ...DEFAULT_RETRY_POLICY, deadlineMs: 1 };

  it.each<[variable: string, ask: (services: Services) => Promise<unknown>]>([
    ['QDRANT_URL', ({ vectors }) => vectors.listCollections()],
    ['MEMORY_BACKEND_URL', ({ backend }) => backend.health()],
    ['MEMORY_PREVIEW_URL', async ({ preview }) => await preview?.health()],
    ['MIGRATION_WEBHOOK_URL', ({ hooks }) => hooks.ask({ ...FREEZE, ...WITHOUT_DEADLINE })],
    ['COLLECTION_SETTING', ({ setting }) => setting.read()],
    ['ARTIFACTS_URL', ({ artifacts }) => artifacts.find('run-a/report.json')],
  ])('is named in the failure by its variable, %s', async (variable, ask) => {
    vi.stubEnv('AWS_ENDPOINT_URL', NOWHERE);
    onTestFinished(() => void vi.unstubAllEnvs());
    const services = await openServices(UNREACHABLE, { pace });
    const failure = translateFailure(await ask(services).catch((error: unknown) => error));
    expect(failure).toEqual(failureNamed('RetryableUnavailable'));
    expect((failure as Error).message).toMatch(new RegExp(`^The .* of ${variable}: `));
    expect((failure as Error).message).not.toContain('secret');
  });

  it.each([
    ['ECONNREFUSED', 'connect ECONNREFUSED', 'RetryableUnavailable', 'connect ECONNREFUSED.'],
    [
      'ResourceNotFoundException',
      'no',
      'RefusedSetting',
      'there is no such table. "npx serverless deploy" creates it; or DATA_DIR=FOLDER keeps',
    ],
    [
      'ValidationException',
      'The provided key element does not match',
      'RefusedSetting',
      'its keys',
    ],
  ])('is named in the failure if it is the table, %s', async (code, message, name, why) => {
    const failure = Object.assign(new Error(message), { name: code, code });
    const client = namedClient(createDocumentClient(NOWHERE), 'The table runs of TABLE_NAME');
    client.middlewareStack.add(() => () => Promise.reject(failure), { step: 'build' });
    const error: unknown = await client
      .send(new GetCommand({ TableName: 'runs', Key: {} }))
      .catch((error: unknown) => error);
    // The failure itself is thrown unchanged, because other code decides by its message whether to retry.
    expect(error).toBe(failure);
    expect(translateFailure(error)).toMatchObject({
      name,
      message: expect.stringContaining(`The table runs of TABLE_NAME: ${why}`),
    });
  });

  it('has a time limit if it is the table', async () => {
    const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockRejectedValue(new Error());
    onTestFinished(() => send.mockRestore());
    const { lock } = openRecords(UNREACHABLE);
    await expect(lock.currentRun()).rejects.toThrow();
    expect(send.mock.calls[0]?.[1]).toMatchObject({ abortSignal: expect.any(AbortSignal) });
  });

  it('is named in the failure if it is the parameter store, or the graph', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', NOWHERE);
    onTestFinished(() => void vi.unstubAllEnvs());
    const environment = { ...UNREACHABLE, MEMORY_BACKEND_KEY_PARAMETER: '/kept' };
    const error = await openServices(environment).catch((error: unknown) => error);
    expect((translateFailure(error) as Error).message).toMatch(/^Systems Manager, .* secrets: /);
    const unreachable = translateDriverError(
      new Neo4jError('no route', 'ServiceUnavailable', '', '' as never),
    );
    expect((unreachable as Error).message).toMatch(/^The graph of NEO4J_URL /);
  });
});
