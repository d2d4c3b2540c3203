// Parses the input of a function once. An unknown field is refused: it may be a mistyped one.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';
import { ruleOf } from './rule-of.ts';

type InputSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

const MAX_NAME = 64;
const MAX_REPORTED = 10;

/** @throws Refusal naming every field that is unknown, missing, or not as it should be, and what it may be */
export function parseInput<Schema extends InputSchema>(
  schema: Schema,
  payload: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, payload);
  if (result.success) return result.output;
  const faults = [...faultsOf(schema, result.issues), ...unknownIn(schema, payload)];
  const more = faults.length - MAX_REPORTED;
  const reported = faults.slice(0, MAX_REPORTED).concat(more > 0 ? [`and ${more} more`] : []);
  throw new Refusal('RefusedInput', `The input is not valid: ${reported.join('; ')}.`);
}

// The schema itself reports only the first one.
function unknownIn({ entries }: InputSchema, payload: unknown): string[] {
  const isNamed = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return Object.keys(isNamed ? payload : {})
    .filter((name) => !Object.hasOwn(entries, name))
    .map((name) => `${name.slice(0, MAX_NAME)} is not known here`);
}

/** One for each field, whatever else is wrong with it. */
function faultsOf(schema: InputSchema, issues: readonly v.BaseIssue<unknown>[]): string[] {
  const faults = new Map<unknown, string>();
  for (const issue of issues) {
    if (issue.type === 'strict_object' && issue.expected === 'never') continue;
    const key = issue.path?.[0]?.key;
    if (!faults.has(key)) faults.set(key, faultOf(schema, issue));
  }
  return [...faults.values()];
}

function faultOf(schema: InputSchema, issue: v.BaseIssue<unknown>): string {
  const key = issue.path?.[0]?.key;
  if (key === undefined) return `It has to be ${ruleOf(schema)}`;
  const name = String(key);
  const entry = schema.entries[name];
  const rule = `has to be ${(entry && ruleOf(entry)) ?? 'something else'}`;
  return issue.type === 'strict_object' ? `${name} is missing: it ${rule}` : `${name} ${rule}`;
}
