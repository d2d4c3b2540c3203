// The confirmation of a manual action, as it is given.
import * as v from 'valibot';
import { EXTERNAL_ACTIONS } from '../phases.ts';
import { parseInput } from '../runs/parse-input.ts';
import { runIdSchema } from '../runs/run.ts';
import { personSchema } from '../runs/step-input.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';

export const confirmInputSchema = v.strictObject({
  runId: runIdSchema,
  action: v.picklist(EXTERNAL_ACTIONS),
  confirmedBy: personSchema,
});

/** @throws Refusal */
export async function confirmAction(
  { runs, confirmations }: Pick<Services, 'runs' | 'confirmations'>,
  payload: unknown,
) {
  try {
    const { runId, action, confirmedBy: by } = parseInput(confirmInputSchema, payload);
    await confirmations.confirm(await runs.read(runId), { action, by });
    return { runId, action, confirmedBy: by };
  } catch (error) {
    throw translateFailure(error);
  }
}
