// Compares a reply's status and whole envelope exactly.
import { expect } from 'vitest';
import type { ApiResponse } from './api-client.ts';

const UUID_LIKE = /^[\w=.-]{8,}$/;

export function expectFailure(
  reply: ApiResponse,
  status: number,
  error: string,
  message: string,
  details: object = {},
): void {
  expect([reply.status, reply.body]).toEqual([
    status,
    { success: false, error, message, ...details },
  ]);
  expectRequestId(reply);
}

export function expectNotFound(reply: ApiResponse, message: string): void {
  expectFailure(reply, 404, 'not_found', message);
}

/** @param existing_id id of the record that already has the unique value */
export function expectConflict(reply: ApiResponse, message: string, existing_id?: number): void {
  const more = existing_id === undefined ? {} : { existing_id };
  expectFailure(reply, 409, 'conflict', message, more);
}

export function expectRefusal(reply: ApiResponse, message: string): void {
  expectFailure(reply, 400, 'validation_failed', message);
}

/** Expects a 400 whose details name exactly these fields, each with sentences. */
export function expectFaults(
  reply: ApiResponse,
  fields: readonly string[],
  message = 'Input validation failed',
): void {
  const { details, ...rest } = reply.body;
  expect([reply.status, rest]).toEqual([
    400,
    { success: false, error: 'validation_failed', message },
  ]);
  expect(Object.keys(details ?? {}).toSorted()).toEqual(fields.toSorted());
  for (const sentences of Object.values(details ?? {})) {
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
  }
  expectRequestId(reply);
}

export function expectFilterFaults(reply: ApiResponse, fields: readonly string[]): void {
  expectFaults(reply, fields, 'Filter validation failed');
}

export function expectRequestId({ headers }: ApiResponse): void {
  expect(headers['x-request-id']).toMatch(UUID_LIKE);
}
