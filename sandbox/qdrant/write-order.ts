// Numbers writes, and applies them: with `wait` before the response, otherwise after it.
import type { Schemas } from '@qdrant/js-client-rest';
import { type Call, readFlag } from './call.ts';
import type { Collection } from './collection.ts';

/** Numbers a write that is already applied. @returns the result of the write */
export function numberWrite(call: Call, collection: Collection): Schemas['UpdateResult'] {
  const operation_id = collection.points.nextOperation();
  return { operation_id, status: readFlag(call, 'wait', false) ? 'completed' : 'acknowledged' };
}

/** Applies and numbers a write. Without `wait`, an invalid write is lost silently. */
export function applyWrite(
  call: Call,
  collection: Collection,
  apply: () => void,
): Schemas['UpdateResult'] {
  if (readFlag(call, 'wait', false)) apply();
  else setImmediate(applySilently, apply);
  return numberWrite(call, collection);
}

function applySilently(apply: () => void): void {
  try {
    apply();
  } catch {
    // The write is lost, just as a real server loses an invalid write that it accepted without `wait`.
  }
}
