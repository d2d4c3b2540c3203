// What a function is invoked with, parsed once.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';

/** @throws Refusal naming the field that is not as it should be */
export function parseInput<Output>(
  schema: v.GenericSchema<unknown, Output>,
  payload: unknown,
): Output {
  const result = v.safeParse(schema, payload);
  if (result.success) return result.output;
  const path = v.getDotPath(result.issues[0]) ?? 'whole';
  throw new Refusal('RefusedInput', `The input is not as it should be: its ${path}.`);
}
