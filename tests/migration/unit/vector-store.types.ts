// Checked by the compiler alone: it fails where one of these directives is not needed.
import type { Schemas } from '@qdrant/js-client-rest';
import { type JsonText, verbatim } from '../../../lib/migration/json/json-text.ts';

/** Bodies of requests to the vector store, and their verbatim parts, have the types of its generated schema. */
export function refusedByTheCompiler(payload: JsonText<Schemas['Payload']>) {
  // @ts-expect-error: the field is with_vector
  const scroll: Schemas['ScrollRequest'] = { with_vectors: true };
  // @ts-expect-error: there is no such mode
  const upsert: Schemas['PointsList'] = { points: [], update_mode: 'insert' };
  // @ts-expect-error: Cosine, with a capital
  const dense: Schemas['VectorParams'] = { size: 4, distance: 'cosine' };
  // @ts-expect-error: a payload is not an id
  const misplaced: Schemas['PointStruct'] = { id: verbatim(payload), vector: [1] };
  return [scroll, upsert, dense, misplaced];
}
