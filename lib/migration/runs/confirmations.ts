// Where no webhook does it, a person does what the migration cannot do itself and confirms it. A confirmation is valid
// for one pending action and cannot be reused.
import * as v from 'valibot';
import type { Database } from '../../store/database.ts';
import type { ExternalAction } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from './run.ts';
import { confirmationKey } from './run-keys.ts';

export type Confirmations = ReturnType<typeof createConfirmations>;

const storedSchema = v.object({ confirmed_by: v.string() });

export function createConfirmations(options: {
  readonly database: Database;
  readonly clock: () => Date;
}) {
  const { database, clock } = options;

  /** @throws Refusal when that action is not pending: confirmed in advance, it would count as done */
  async function confirm(
    run: Run,
    { action, by }: { readonly action: ExternalAction; readonly by: string },
  ): Promise<void> {
    const { pendingAction } = run;
    if (pendingAction?.action !== action) {
      const pending = pendingAction ? `"${pendingAction.action}" is` : 'nothing is';
      const why = `"${action}" is not pending in a run that is ${run.phase}: ${pending}.`;
      throw new Refusal('RefusedNotNow', why);
    }
    const item = {
      ...confirmationKey(run.runId, pendingAction),
      confirmed_by: by,
      confirmed_at: clock().getTime(),
    };
    await database.commit([{ Put: { Item: item }, onConditionFailed: unconditional }]);
  }

  /** Who confirmed the pending action; undefined while nobody has. */
  async function confirmedBy({ runId, pendingAction }: Run): Promise<string | undefined> {
    if (!pendingAction) return undefined;
    const item = await database.get(confirmationKey(runId, pendingAction));
    return item && v.parse(storedSchema, item).confirmed_by;
  }

  return { confirm, confirmedBy };
}

function unconditional(): Error {
  return new Error('A write without a condition cannot fail on one');
}
