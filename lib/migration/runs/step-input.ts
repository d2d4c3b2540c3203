// What a step is invoked with, and what only some of them read of it.
import * as v from 'valibot';
import type { Command } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import { isPrintable } from './printable.ts';
import { bytesSchema, planSchema, runIdSchema } from './run.ts';

/** Shown to other people later. */
export const personSchema = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(100),
  v.check(isPrintable),
  v.description('a name of 1 to 100 characters on one line'),
);

export const stepInputSchema = v.strictObject({
  runId: runIdSchema,
  /** Without it, a step that changes anything only tells what it would do. */
  execute: v.optional(v.boolean(), false),
  actor: v.optional(v.picklist(['operator', 'machine']), 'operator'),
  /** The number of writes that the operator knows will be lost. */
  acknowledgedLoss: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(0),
      v.description('a whole number of writes, 0 or more'),
    ),
  ),
  /** Of the vector store, as the operator measures it now. */
  freeBytes: v.optional(bytesSchema),
  /** Findings accepted after the run began; they are added to its plan. */
  accepts: v.optional(planSchema.entries.accepts),
  /** Approves the report with this digest, of which the beginning is enough. */
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

// What only one step reads is refused by all the others.
const OWN_FIELDS = {
  acknowledgedLoss: ['rollback'],
  freeBytes: ['preflight'],
  accepts: ['preflight', 'copy'],
  approvedDigest: ['freeze'],
  approvedBy: ['freeze'],
} as const satisfies Partial<Record<keyof StepInput, readonly Command[]>>;

/** @throws Refusal for a field that another step's is */
export function assertOwn(command: Command, input: StepInput): void {
  for (const [field, owners] of Object.entries<readonly Command[]>(OWN_FIELDS)) {
    if (owners.includes(command) || !Object.hasOwn(input, field)) continue;
    throw new Refusal(
      'RefusedInput',
      `Only ${owners.join(' and ')} take ${field}, not ${command}.`,
    );
  }
}
