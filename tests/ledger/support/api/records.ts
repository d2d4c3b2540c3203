// Creates the records of a test through the API.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Api } from './api-client.ts';

/** Names of categories must be unique, and the service under test may be shared. */
export function uniqueName(word = 'Category'): string {
  return `${word} ${randomUUID()}`;
}

export const LUNCH = { description: 'Lunch', amount: 12.5, type: 'expense' } as const;

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire
export type WireRecord = any;

export async function givenCategory(api: Api, fields: object = {}): Promise<WireRecord> {
  const response = await api.post('/categories', { name: uniqueName(), ...fields });
  expect(response.status, response.text).toBe(201);
  return response.body.data;
}

export async function givenTransaction(api: Api, fields: object = {}): Promise<WireRecord> {
  const response = await api.post('/transactions', { ...LUNCH, ...fields });
  expect(response.status, response.text).toBe(201);
  return response.body.data;
}

/** Creates a transaction and reads it back, because the stored transaction could differ from the response. */
export async function createAndReadTransaction(api: Api, fields: object): Promise<WireRecord> {
  const created = await givenTransaction(api, fields);
  const stored = (await api.get(`/transactions/${created.id}`)).body.data;
  expect(stored).toEqual(created);
  return stored;
}

/** Creates a category and reads it back. */
export async function createAndReadCategory(api: Api, fields: object): Promise<WireRecord> {
  const created = await givenCategory(api, fields);
  const stored = (await api.get(`/categories/${created.id}`)).body.data;
  expect(stored).toEqual({ ...created, transaction_count: 0 });
  return stored;
}

/** Far above any id that a test run assigns. */
export const UNKNOWN_ID = 999_999_999;
