// For how many more days a rollback is possible.
import { Refusal } from '../refusals.ts';
import { DAY_MS } from '../runs/durations.ts';
import type { Run } from '../runs/run.ts';

const WARNING_DAYS = 7;

export interface Retention {
  readonly until: string;
  readonly daysLeft: number;
  readonly isOver: boolean;
  /** In the last week: who wants to go back has to do it now. */
  readonly isEnding: boolean;
}

/** @throws Refusal for a run that never went live */
export function retentionOf({ retainUntil }: Run, now: Date): Retention {
  if (retainUntil === undefined) {
    throw new Refusal('RefusedNotNow', 'The record tells no end of the retention.');
  }
  const left = retainUntil - now.getTime();
  return {
    until: new Date(retainUntil).toISOString(),
    daysLeft: Math.max(0, Math.ceil(left / DAY_MS)),
    isOver: left <= 0,
    isEnding: left > 0 && left <= WARNING_DAYS * DAY_MS,
  };
}
