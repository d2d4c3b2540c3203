// Matches a refusal by name and message.
import { expect } from 'vitest';
import type { RefusalName, RetryableName } from '../../../lib/migration/refusals.ts';

/** @param why a part of the refusal's message, or a pattern of the message */
export function failureNamed(name: RefusalName | RetryableName, why: string | RegExp = ''): Error {
  const message =
    typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why);
  return expect.objectContaining({ name, message });
}
