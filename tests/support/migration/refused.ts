// How a test says which refusal it expects.
import { expect } from 'vitest';
import type { RefusalName, RetryableName } from '../../../lib/migration/refusals.ts';

export function named(name: RefusalName | RetryableName): Error {
  return expect.objectContaining({ name });
}
