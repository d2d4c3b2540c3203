// Numbers writes, and applies them before or after the answer, as `wait` says.
import type { Schemas } from '@qdrant/js-client-rest';
import type { Collection } from './collection.ts';
import { type Exchange, isTrue } from './exchange.ts';

/** The answer to a write that is already done. */
export function writeResult(exchange: Exchange, collection: Collection): Schemas['UpdateResult'] {
  const operation_id = collection.points.nextOperation();
  return { operation_id, status: isTrue(exchange, 'wait', false) ? 'completed' : 'acknowledged' };
}

/** Without `wait` an invalid write is lost silently. */
export function applyWrite(
  exchange: Exchange,
  collection: Collection,
  apply: () => void,
): Schemas['UpdateResult'] {
  if (isTrue(exchange, 'wait', false)) apply();
  else setImmediate(applySilently, apply);
  return writeResult(exchange, collection);
}

function applySilently(apply: () => void): void {
  try {
    apply();
  } catch {
    // The write is lost, as it would be after a real server had logged it.
  }
}
