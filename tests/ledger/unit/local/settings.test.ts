// Settings of the local service, read from the environment.
import { expect, it } from 'vitest';
import { readLocalSettings } from '../../../../local/settings.ts';

const DEFAULTS = {
  port: 3000,
  dataFolder: '.local/data',
  databaseEndpoint: undefined,
  tableName: 'finance-ledger-local',
  allowedOrigins: ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'],
};

it('every setting has a default', () => {
  expect(readLocalSettings({})).toEqual(DEFAULTS);
});

it('an empty variable counts as unset', () => {
  const empty = {
    PORT: '',
    DATA_DIR: '',
    DYNAMODB_ENDPOINT: '',
    TABLE_NAME: '',
    ALLOWED_ORIGINS: '',
  };
  expect(readLocalSettings(empty)).toEqual(DEFAULTS);
});

it('the data folder "memory" means no folder', () => {
  expect(readLocalSettings({ DATA_DIR: 'memory' }).dataFolder).toBeUndefined();
  expect(readLocalSettings({ DATA_DIR: './memory' }).dataFolder).toBe('./memory');
});

it.for(['0', '65536', 'abc', '1e3', ' 3000', '3000.0', '-1'])(
  'the port "%s" is refused',
  (PORT) => {
    expect(() => readLocalSettings({ PORT })).toThrow(/^PORT must be/);
  },
);

it('the allowed origins are read, and always include those of the service', () => {
  const serviceOrigins = DEFAULTS.allowedOrigins;
  const ALLOWED_ORIGINS = 'http://localhost:5173, https://app.example';
  expect(readLocalSettings({ ALLOWED_ORIGINS }).allowedOrigins).toEqual([
    ...serviceOrigins,
    'http://localhost:5173',
    'https://app.example',
  ]);
  expect(readLocalSettings({ PORT: '8080' }).allowedOrigins).toEqual([
    'http://localhost:8080',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
  ]);
  expect(readLocalSettings({ ALLOWED_ORIGINS: '*' }).allowedOrigins).toEqual([
    ...serviceOrigins,
    '*',
  ]);
});

it.for(['localhost:5173', 'http://localhost:5173/', 'http://a,', 'null', '*.example'])(
  'the origins "%s" are refused',
  (ALLOWED_ORIGINS) => {
    expect(() => readLocalSettings({ ALLOWED_ORIGINS })).toThrow(/^ALLOWED_ORIGINS must be/);
  },
);

it.for(['ab', 'a b', 'a/b', 'x'.repeat(256)])('the table name "%s" is refused', (TABLE_NAME) => {
  expect(() => readLocalSettings({ TABLE_NAME })).toThrow(/^TABLE_NAME must be/);
});

it.for(['https://dynamodb.eu-west-1.amazonaws.com', 'https://dynamodb.eu-west-1.api.aws/'])(
  'the database "%s", which belongs to AWS, is refused',
  (DYNAMODB_ENDPOINT) => {
    expect(() => readLocalSettings({ DYNAMODB_ENDPOINT })).toThrow(/^DYNAMODB_ENDPOINT must not/);
  },
);
