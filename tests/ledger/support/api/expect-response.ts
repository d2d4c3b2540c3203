// Compares a response's status and whole envelope exactly.
import { expect } from 'vitest';
import type { ApiResponse } from './api-client.ts';

const REQUEST_ID = /^[\w=.-]{8,}$/;

export function expectFailure(
  response: ApiResponse,
  status: number,
  error: string,
  message: string,
  details: object = {},
): void {
  expect([response.status, response.body]).toEqual([
    status,
    { success: false, error, message, ...details },
  ]);
  expectRequestId(response);
}

export function expectNotFound(response: ApiResponse, message: string): void {
  expectFailure(response, 404, 'not_found', message);
}

/** @param existing_id id of the record that already has the unique value */
export function expectConflict(response: ApiResponse, message: string, existing_id?: number): void {
  const details = existing_id === undefined ? {} : { existing_id };
  expectFailure(response, 409, 'conflict', message, details);
}

export function expectRefusal(response: ApiResponse, message: string): void {
  expectFailure(response, 400, 'validation_failed', message);
}

/** Expects a 400 whose details have exactly these fields, each with sentences that say what is wrong. */
export function expectFieldErrors(
  response: ApiResponse,
  fields: readonly string[],
  message = 'Input validation failed',
): void {
  const { details, ...rest } = response.body;
  expect([response.status, rest]).toEqual([
    400,
    { success: false, error: 'validation_failed', message },
  ]);
  expect(Object.keys(details ?? {}).toSorted()).toEqual(fields.toSorted());
  for (const sentences of Object.values(details ?? {})) {
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
  }
  expectRequestId(response);
}

export function expectFilterErrors(response: ApiResponse, fields: readonly string[]): void {
  expectFieldErrors(response, fields, 'Filter validation failed');
}

export function expectRequestId({ headers }: ApiResponse): void {
  expect(headers['x-request-id']).toMatch(REQUEST_ID);
}
