// Valid settings, and the variable that an error names for each invalid one.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readLedgerConfig } from '../../../lib/ledger/config.ts';

afterEach(() => vi.unstubAllGlobals());

describe('readLedgerConfig', () => {
  test('only the name of the table is required', () => {
    expect(readLedgerConfig({ TABLE_NAME: 't' })).toEqual({
      ledgerId: undefined,
      issuer: undefined,
      tableName: 't',
      dynamodbEndpoint: undefined,
      timeZone: 'UTC',
    });
  });

  test('every setting can be set', () => {
    const environment = {
      TABLE_NAME: 't',
      AUTH: 'open',
      LEDGER_ID: 'home-1',
      AUTH_ISSUER: 'https://login.example/',
      AUTH_AUDIENCE: 'ledger',
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
      TIME_ZONE: 'Europe/Berlin',
    };
    expect(readLedgerConfig(environment)).toEqual({
      ledgerId: 'home-1',
      issuer: { issuer: 'https://login.example/', audience: 'ledger' },
      tableName: 't',
      dynamodbEndpoint: 'http://localhost:8000',
      timeZone: 'Europe/Berlin',
    });
  });

  test('only AUTH=open lets requests in without a key or token', () => {
    const readLedgerId = (AUTH: string) => readLedgerConfig({ TABLE_NAME: 't', AUTH }).ledgerId;
    expect(readLedgerId('open')).toBe('default');
    expect(readLedgerId('required')).toBeUndefined();
    expect(readLedgerId('')).toBeUndefined();
  });

  test('an empty ledger id, endpoint or time zone counts as unset', () => {
    const empty = { LEDGER_ID: '', DYNAMODB_ENDPOINT: '', TIME_ZONE: '' };
    const environment = { TABLE_NAME: 't', AUTH: 'open', ...empty };
    expect(readLedgerConfig(environment)).toMatchObject({
      ledgerId: 'default',
      dynamodbEndpoint: undefined,
      timeZone: 'UTC',
    });
  });

  test('UTC needs no Intl, whose time zones take long to load', () => {
    vi.stubGlobal('Intl', {});
    expect(readLedgerConfig({ TABLE_NAME: 't' })).toMatchObject({ timeZone: 'UTC' });
    expect(() => readLedgerConfig({ TABLE_NAME: 't', TIME_ZONE: 'Europe/Berlin' })).toThrow();
  });

  test.each([
    [{}, 'TABLE_NAME is not set'],
    [{ TABLE_NAME: '' }, 'TABLE_NAME is not set'],
    [{ TABLE_NAME: 't', TIME_ZONE: 'Mars/Base' }, 'TIME_ZONE "Mars/Base" is not a known time zone'],
    [{ TABLE_NAME: 't', AUTH: 'open', LEDGER_ID: 'a#b' }, /^LEDGER_ID must be/],
    [{ TABLE_NAME: 't', AUTH: 'open', LEDGER_ID: 'x'.repeat(65) }, /^LEDGER_ID must be/],
    [{ TABLE_NAME: 't', AUTH: 'none' }, /^AUTH must be/],
    [{ TABLE_NAME: 't', AUTH_ISSUER: 'https://login.example' }, /^AUTH_ISSUER and AUTH_AUDIENCE/],
    [{ TABLE_NAME: 't', AUTH_AUDIENCE: 'ledger' }, /^AUTH_ISSUER and AUTH_AUDIENCE/],
    [
      { TABLE_NAME: 't', AUTH_ISSUER: 'http://login.example', AUTH_AUDIENCE: 'ledger' },
      /^AUTH_ISSUER must be an https address/,
    ],
  ])('the refusal of %j names the variable', (environment, message) => {
    expect(() => readLedgerConfig(environment)).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringMatching(message),
      }),
    );
  });
});
