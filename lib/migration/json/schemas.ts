// Schemas of values that occur in several documents.
import * as v from 'valibot';

export const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Hexadecimal digest */
export const sha256Schema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
