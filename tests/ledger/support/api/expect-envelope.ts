// Rules that hold for every response.
import { expect } from 'vitest';
import type { ApiResponse } from './api-client.ts';
import { expectRequestId } from './expect-response.ts';

const ERROR_CODES: Readonly<Record<number, string>> = {
  400: 'validation_failed',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

const SUCCESS_FIELDS = ['data', 'message', 'pagination', 'count', 'next'];

/** Expects the envelope or a file, and never a 5xx. */
export function expectEnvelope(response: ApiResponse): void {
  const { status, body, headers } = response;
  expectRequestId(response);
  if (headers['content-type']?.startsWith('text/csv')) {
    expect([status, headers['content-disposition']]).toEqual([200, expect.any(String)]);
    return;
  }
  expect([200, 201, 207, 400, 404, 405, 409, 413]).toContain(status);
  const { success, ...rest } = body;
  expect(success).toBe(status < 400);
  if (status < 400) {
    for (const name of Object.keys(rest)) expect(SUCCESS_FIELDS).toContain(name);
  } else {
    const { details, existing_id, ...failure } = rest;
    expect(failure).toEqual({ error: ERROR_CODES[status], message: expect.stringMatching(/\S/) });
    if (details !== undefined)
      expect([status, Object.keys(details).length > 0]).toEqual([400, true]);
    if (existing_id !== undefined) expect([status, Number(existing_id) > 0]).toEqual([409, true]);
  }
}
