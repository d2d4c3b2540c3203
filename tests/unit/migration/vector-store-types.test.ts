// The compiler refuses what the store's own schema does not have. Each directive fails the build when it is idle.
import type { Schemas } from '@qdrant/js-client-rest';
import { expect, test } from 'vitest';
import { type JsonText, toJsonText, verbatim } from '../../../lib/migration/json/json-text.ts';

test('bodies are checked against the generated schema, their verbatim parts, too', () => {
  // @ts-expect-error: the field is with_vector
  const scroll: Schemas['ScrollRequest'] = { with_vectors: true };
  // @ts-expect-error: there is no such mode
  const upsert: Schemas['PointsList'] = { points: [], update_mode: 'insert' };
  // @ts-expect-error: Cosine, with a capital
  const dense: Schemas['VectorParams'] = { size: 4, distance: 'cosine' };
  const payload: JsonText<Schemas['Payload']> = toJsonText({ data: 'tea' });
  // @ts-expect-error: a payload is no id
  const misplaced: Schemas['PointStruct'] = { id: verbatim(payload), vector: [1] };
  expect([scroll, upsert, dense, misplaced]).toHaveLength(4);
});
