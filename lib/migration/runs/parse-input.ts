// What a function is invoked with, parsed once. A field that nobody reads is refused: it may be a mistyped one that
// somebody relies on.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';

/** @throws Refusal naming the field that is unknown, or not as it should be */
export function parseInput<Output>(
  schema: v.GenericSchema<unknown, Output>,
  payload: unknown,
): Output {
  const result = v.safeParse(schema, payload);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue)?.slice(0, LONGEST_PATH);
  if (path !== undefined && issue.type === 'strict_object' && issue.expected === 'never') {
    throw new Refusal('RefusedInput', `The input has a field that is not known here: ${path}.`);
  }
  throw new Refusal('RefusedInput', `The input is not as it should be: its ${path ?? 'whole'}.`);
}

const LONGEST_PATH = 64;
