// Checked by the compiler alone, which fails if one of these `@ts-expect-error` directives hides no error.
import type { Schemas } from '@qdrant/js-client-rest';
import { type JsonText, verbatim } from '../../../lib/migration/json/json-text.ts';

/** Bodies of requests to the vector store, and their verbatim parts, must match the types of the store's generated schema. */
export function refusedByTheCompiler(payload: JsonText<Schemas['Payload']>) {
  // @ts-expect-error: the field is with_vector
  const scroll: Schemas['ScrollRequest'] = { with_vectors: true };
  // @ts-expect-error: there is no such mode
  const upsert: Schemas['PointsList'] = { points: [], update_mode: 'insert' };
  // @ts-expect-error: the name is Cosine, with a capital letter
  const dense: Schemas['VectorParams'] = { size: 4, distance: 'cosine' };
  // @ts-expect-error: a payload is not an id
  const misplaced: Schemas['PointStruct'] = { id: verbatim(payload), vector: [1] };
  return [scroll, upsert, dense, misplaced];
}
