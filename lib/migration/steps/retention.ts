// Counts the days in which there is a way back. When they are over the run says so; never a day earlier.
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import type { Outcome, Step, Turn } from '../runs/step.ts';
import type { Services } from '../services.ts';

const DAY_MS = 86_400_000;
const WARNING_DAYS = 7;

export interface Retention {
  readonly until: string;
  readonly daysLeft: number;
  readonly isOver: boolean;
  /** In the last week: who wants to go back has to do it now. */
  readonly isEnding: boolean;
}

export const retention: Step = {
  command: 'retention',
  mayBeLate: async () => true,
  forecast: async ({ services, run }) => ({
    ...retentionOf(run, services.clock()),
    removes: run.plan.removesWhenOver ? run.plan.sourceCollection : null,
  }),
  work: async (turn) => {
    const { services, run } = turn;
    const { isOver } = retentionOf(run, services.clock());
    if (!isOver) return { done: false, waitSeconds: DAY_MS / 1_000 };
    return run.phase === 'live' ? { done: true } : await close(turn);
  },
};

/** @throws Refusal for a run that never went live */
export function retentionOf({ retainUntil }: Run, now: Date): Retention {
  if (retainUntil === undefined) {
    throw new Refusal('RefusedMissingEvidence', 'The record tells no end of the retention.');
  }
  const left = retainUntil - now.getTime();
  return {
    until: new Date(retainUntil).toISOString(),
    daysLeft: Math.max(0, Math.ceil(left / DAY_MS)),
    isOver: left <= 0,
    isEnding: left > 0 && left <= WARNING_DAYS * DAY_MS,
  };
}

// Marked as irreversible by then: nobody relies on what is removed here. Artifacts end by the rule of
// the place they are kept in, which knows their day.
async function close({ services, run, renew }: Turn): Promise<Outcome> {
  if (run.plan.removesWhenOver) {
    await renew();
    await removeOld(services, run);
  }
  return { done: true };
}

async function removeOld({ vectors, setting }: Services, { plan }: Run): Promise<void> {
  const active = await setting.read();
  if (active === plan.sourceCollection) {
    throw new Refusal('RefusedSettingChanged', `The setting says ${active}, the old collection.`);
  }
  await vectors.deleteCollection(plan.sourceCollection);
}
