// How a test says which refusal it expects.
import { expect } from 'vitest';
import type { RefusalName, RetryableName } from '../../../lib/migration/refusals.ts';

/** @param why a part of its message, or what the message has to look like */
export function named(name: RefusalName | RetryableName, why: string | RegExp = ''): Error {
  const message =
    typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why);
  return expect.objectContaining({ name, message });
}
