// Records that a test needs to be there, made through the API.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Api } from './api-client.ts';

/** Names are unique, and a service under test may be shared. */
export function uniqueName(word = 'Category'): string {
  return `${word} ${randomUUID()}`;
}

export const LUNCH = { description: 'Lunch', amount: 12.5, type: 'expense' } as const;

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire
export type WireRecord = any;

export async function givenCategory(api: Api, fields: object = {}): Promise<WireRecord> {
  const reply = await api.post('/categories', { name: uniqueName(), ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.data;
}

export async function givenTransaction(api: Api, fields: object = {}): Promise<WireRecord> {
  const reply = await api.post('/transactions', { ...LUNCH, ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.data;
}

/** The same, read back: what is answered is one thing, what is kept another. */
export async function keptTransaction(api: Api, fields: object): Promise<WireRecord> {
  const created = await givenTransaction(api, fields);
  const kept = (await api.get(`/transactions/${created.id}`)).body.data;
  expect(kept).toEqual(created);
  return kept;
}

/** The same, read back. */
export async function keptCategory(api: Api, fields: object): Promise<WireRecord> {
  const created = await givenCategory(api, fields);
  const kept = (await api.get(`/categories/${created.id}`)).body.data;
  expect(kept).toEqual({ ...created, transaction_count: 0 });
  return kept;
}

/** Far beyond any id that a test run gives. */
export const UNKNOWN_ID = 999_999_999;
