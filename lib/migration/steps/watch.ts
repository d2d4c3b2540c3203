// What has to happen though nobody asks for it: a window that has closed is gone back from, whatever became of
// the state machine; and the days of the way back are counted.
import * as v from 'valibot';
import { IN_WINDOW, type Phase } from '../phases.ts';
import type { Run } from '../runs/run.ts';
import { type Step, type StepResult, takeStep } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { retention } from './retention.ts';
import { rollback } from './rollback.ts';
import { stay } from './stay.ts';

/** A person names a run; a timer does not. */
export function namesARun(payload: unknown): boolean {
  return v.is(v.looseObject({ runId: v.unknown() }), payload);
}

/** Undefined when there is nothing to be done. @throws Refusal, RetryableFailure: the next watch tries again */
export async function keepWatch(services: Services): Promise<StepResult | undefined> {
  const runId = await services.lock.activeRun();
  if (runId === undefined) return undefined;
  const step = dueStep(await services.runs.read(runId), services.clock());
  if (!step) return undefined;
  const payload = { runId, execute: true, actor: 'machine' };
  return await takeStep(step, services, { payload, timeLeftMs: () => Number.POSITIVE_INFINITY });
}

function dueStep({ phase, deadlineAt, retainUntil }: Run, now: Date): Step | undefined {
  const isPast = (moment = Number.POSITIVE_INFINITY) => now.getTime() >= moment;
  const mayBeFrozen: readonly Phase[] = [...IN_WINDOW, 'returning'];
  if (mayBeFrozen.includes(phase) && isPast(deadlineAt)) return rollback;
  if (phase === 'staying') return stay;
  if ((phase === 'live' || phase === 'irreversible') && isPast(retainUntil)) return retention;
  return undefined;
}
