// The answer to a write: only `completed` means that it is done and durable.
import type { Schemas } from '@qdrant/js-client-rest';
import { WriteNotCompletedError } from '../../ports/vector-store-errors.ts';
import type { Call } from './transport.ts';

/** @throws WriteNotCompletedError for `acknowledged` and `wait_timeout`, which come with a 200, too */
export function completed(call: Call, { status }: Schemas['UpdateResult']): void {
  if (status !== 'completed') {
    throw new WriteNotCompletedError(`${call.method} ${call.path}: answered "${status}"`);
  }
}
