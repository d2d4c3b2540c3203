// An approval as it is given: for one gate, of one run, for the evidence that was shown, until a time.
import * as v from 'valibot';
import { GATES } from '../phases.ts';
import { parseInput } from '../runs/parse-input.ts';
import { runIdSchema } from '../runs/run.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';

export const approveInputSchema = v.strictObject({
  runId: runIdSchema,
  gate: v.picklist(GATES),
  /** Of the evidence that "status" shows for the gate. */
  evidenceDigest: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{8,64}$/),
    v.description('the digest that "status" shows: its first 8 hexadecimal digits or more'),
  ),
  approvedBy: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(100),
    v.description('a name of 1 to 100 characters'),
  ),
  expiresAt: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.check(isOfCalendar),
    v.description('a time like 2026-03-01T10:00:00Z'),
  ),
});

// The 30th of February would be taken for the 2nd of March.
function isOfCalendar(timestamp: string): boolean {
  const day = timestamp.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** @throws Refusal */
export async function approveGate(
  { runs, approvals }: Pick<Services, 'runs' | 'approvals'>,
  payload: unknown,
) {
  try {
    const { runId, expiresAt, ...approval } = parseInput(approveInputSchema, payload);
    const until = Date.parse(expiresAt);
    await approvals.approve(await runs.read(runId), { ...approval, expiresAt: until });
    return { runId, gate: approval.gate, approvedUntil: new Date(until).toISOString() };
  } catch (error) {
    throw translateFailure(error);
  }
}
