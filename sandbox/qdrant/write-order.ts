// Numbers writes, and applies them: with `wait` before the response, otherwise after it.
import type { Schemas } from '@qdrant/js-client-rest';
import type { Collection } from './collection.ts';
import { type Exchange, isTrue } from './exchange.ts';

/** Numbers a write that is already applied. @returns the result of the write */
export function numberWrite(exchange: Exchange, collection: Collection): Schemas['UpdateResult'] {
  const operation_id = collection.points.nextOperation();
  return { operation_id, status: isTrue(exchange, 'wait', false) ? 'completed' : 'acknowledged' };
}

/** Applies and numbers a write. Without `wait`, an invalid write is lost silently. */
export function applyWrite(
  exchange: Exchange,
  collection: Collection,
  apply: () => void,
): Schemas['UpdateResult'] {
  if (isTrue(exchange, 'wait', false)) apply();
  else setImmediate(applySilently, apply);
  return numberWrite(exchange, collection);
}

function applySilently(apply: () => void): void {
  try {
    apply();
  } catch {
    // The write is lost, just as a real server loses an invalid write that it accepted without `wait`.
  }
}
