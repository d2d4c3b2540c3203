// Parses the input of a function. An unknown field is refused, because it may be mistyped. A field that only some steps read is
// refused by all other steps.
import * as v from 'valibot';
import { isPrintable } from '../../shared/printable.ts';
import type { Command } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import { countSchemaFor, planSchema, runIdSchema } from './run.ts';

type InputSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

const MAX_NAME_LENGTH = 64;

/** @throws Refusal naming every field that is unknown, missing or invalid, with its allowed values */
export function parseInput<Schema extends InputSchema>(
  schema: Schema,
  payload: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, payload);
  if (result.success) return result.output;
  const problems = [...listProblems(schema, result.issues), ...listUnknownFields(schema, payload)];
  throw new Refusal('RefusedSetting', `The input is not valid: ${problems.join('; ')}.`);
}

// The schema itself reports only the first unknown field.
function listUnknownFields({ entries }: InputSchema, payload: unknown): string[] {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return Object.keys(isObject ? payload : {})
    .filter((name) => !Object.hasOwn(entries, name))
    .map((name) => `${name.slice(0, MAX_NAME_LENGTH)} is not known here`);
}

/** Lists one message for each invalid field. */
function listProblems(schema: InputSchema, issues: readonly v.BaseIssue<unknown>[]): string[] {
  const problems = new Map<unknown, string>();
  for (const issue of issues) {
    if (issue.type === 'strict_object' && issue.expected === 'never') continue;
    const key = issue.path?.[0]?.key;
    if (!problems.has(key)) problems.set(key, describeProblem(schema, issue));
  }
  return [...problems.values()];
}

function describeProblem(schema: InputSchema, issue: v.BaseIssue<unknown>): string {
  const key = issue.path?.[0]?.key;
  if (key === undefined) return `It has to be ${describeRule(schema)}`;
  const name = String(key);
  const entry = schema.entries[name];
  const rule = `has to be ${(entry && describeRule(entry)) ?? 'something else'}`;
  return issue.type === 'strict_object' ? `${name} is missing: it ${rule}` : `${name} ${rule}`;
}

interface DescribedSchema {
  readonly type: string;
  /** Schema inside an optional */
  readonly wrapped?: DescribedSchema;
  /** Values of a picklist */
  readonly options?: readonly string[];
  /** Items of a list */
  readonly item?: DescribedSchema;
}

const TYPE_RULES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number',
  strict_object: 'an object with named fields',
};

/** Completes the sentence "it has to be ..."; undefined for a type without a rule */
export function describeRule(schema: DescribedSchema): string | undefined {
  const { type, wrapped, options, item } = schema;
  const description = v.getDescription(schema as Parameters<typeof v.getDescription>[0]);
  if (description !== undefined) return description;
  if (wrapped) return describeRule(wrapped);
  if (options) return `one of ${options.join(', ')}`;
  if (item?.options) return `a list of any of ${item.options.join(', ')}`;
  return TYPE_RULES[type];
}

/** Name of a person, which is shown to other people later */
export const personSchema = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(100),
  v.check(isPrintable),
  v.description('a name of 1 to 100 characters on one line'),
);

/** At this rate, reading a page takes less time than a step reserves for saving its progress. */
const MIN_RATE = 20;

export const stepInputSchema = v.strictObject({
  runId: runIdSchema,
  /** False for a dry run: the step only tells what it would do. */
  execute: v.optional(v.boolean(), false),
  /** A call by the state machine has no intent: `parseStepCall` drops its options. */
  actor: v.optional(v.picklist(['operator', 'machine']), 'operator'),
  /** Number of lost writes that the operator accepts */
  acknowledgedLoss: v.optional(countSchemaFor('writes')),
  /** Number of points that users may have removed or changed, as the operator states it */
  deletes: v.optional(countSchemaFor('points')),
  /** Points per second that the run's steps may read from now on; 0: no limit */
  maxRate: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.check((rate) => rate === 0 || rate >= MIN_RATE),
      v.description(`a whole number of points per second, ${MIN_RATE} or more, or 0 for no limit`),
    ),
  ),
  /** Returns to the old collection as it is, without the writes since the switch. */
  asItWas: v.optional(v.boolean()),
  /** Restores the snapshot of the window under a new name, without the writes since then. */
  toSnapshot: v.optional(v.boolean()),
  /** Findings accepted after the run began; they are added to its plan. */
  accepts: v.optional(planSchema.entries.accepts),
  /** Replaces the length of the window in the plan */
  windowMinutes: v.optional(planSchema.entries.windowMinutes),
  /** Approves the report with this digest; the first digits are enough. */
  approvedDigest: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9a-f]{8,64}$/),
      v.description('the digest that "status" shows: its first 8 hexadecimal digits or more'),
    ),
  ),
  approvedBy: v.optional(personSchema),
});

export type StepInput = v.InferOutput<typeof stepInputSchema>;

/** Options of a step that an operator requests */
export type Intent = Omit<StepInput, 'runId' | 'execute' | 'actor'>;

// Fields that only some steps read; all other steps refuse them.
const STEP_FIELDS = {
  acknowledgedLoss: ['rollback'],
  deletes: ['rollback', 'rebuild', 'copy', 'cutover', 'retention'],
  asItWas: ['rollback'],
  toSnapshot: ['rollback'],
  accepts: ['copy'],
  windowMinutes: ['cutover'],
  approvedDigest: ['cutover'],
  approvedBy: ['cutover'],
} as const satisfies Partial<Record<keyof StepInput, readonly Command[]>>;

/** A request to run a step */
export interface StepCall {
  readonly runId: string;
  /** Without an intent, the step runs only if no person has to decide. */
  readonly intent?: Intent | undefined;
  /** True if the step only tells what it would do */
  readonly isDryRun?: boolean;
}

/** @throws Refusal for a field that is unknown, invalid, or only for other steps */
export function parseStepCall(command: Command, payload: unknown): StepCall {
  const input = parseInput(stepInputSchema, payload);
  assertFieldsAllowed(command, input);
  const { runId, execute, actor, ...intent } = input;
  return { runId, isDryRun: !execute, intent: actor === 'machine' ? undefined : intent };
}

function assertFieldsAllowed(command: Command, input: StepInput): void {
  for (const [field, owners] of Object.entries<readonly Command[]>(STEP_FIELDS)) {
    if (owners.includes(command) || !Object.hasOwn(input, field)) continue;
    throw new Refusal(
      'RefusedSetting',
      `Only ${owners.join(' and ')} take ${field}, not ${command}.`,
    );
  }
}
