// What the environment may say, and which variable is blamed for what it may not.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readLedgerConfig } from '../../lib/config.ts';

afterEach(() => vi.unstubAllGlobals());

describe('readLedgerConfig', () => {
  test('only the table needs a name', () => {
    expect(readLedgerConfig({ TABLE_NAME: 't' })).toEqual({
      ledgerId: 'default',
      tableName: 't',
      dynamodbEndpoint: undefined,
      timeZone: 'UTC',
    });
  });

  test('everything can be said', () => {
    const environment = {
      TABLE_NAME: 't',
      LEDGER_ID: 'home-1',
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
      TIME_ZONE: 'Europe/Berlin',
    };
    expect(readLedgerConfig(environment)).toEqual({
      ledgerId: 'home-1',
      tableName: 't',
      dynamodbEndpoint: 'http://localhost:8000',
      timeZone: 'Europe/Berlin',
    });
  });

  test('an empty ledger id, endpoint or time zone counts as unset', () => {
    const environment = { TABLE_NAME: 't', LEDGER_ID: '', DYNAMODB_ENDPOINT: '', TIME_ZONE: '' };
    expect(readLedgerConfig(environment)).toMatchObject({
      ledgerId: 'default',
      dynamodbEndpoint: undefined,
      timeZone: 'UTC',
    });
  });

  test('UTC is known without asking, for the time zones of the world take long to load', () => {
    vi.stubGlobal('Intl', {});
    expect(readLedgerConfig({ TABLE_NAME: 't' })).toMatchObject({ timeZone: 'UTC' });
    expect(() => readLedgerConfig({ TABLE_NAME: 't', TIME_ZONE: 'Europe/Berlin' })).toThrow();
  });

  test.each([
    [{}, 'TABLE_NAME is not set'],
    [{ TABLE_NAME: '' }, 'TABLE_NAME is not set'],
    [{ TABLE_NAME: 't', TIME_ZONE: 'Mars/Base' }, 'TIME_ZONE "Mars/Base" is not a known time zone'],
    [{ TABLE_NAME: 't', LEDGER_ID: 'a#b' }, /^LEDGER_ID must be/],
    [{ TABLE_NAME: 't', LEDGER_ID: 'x'.repeat(65) }, /^LEDGER_ID must be/],
  ])('%j is refused by name', (environment, message) => {
    expect(() => readLedgerConfig(environment)).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringMatching(message),
      }),
    );
  });
});
