// An order is carried out as often as its step wants; and what was done stays done, whatever is asked afterwards.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { carryOut } from '../../../../local/migrate/carry-out.ts';
import type { Place } from '../../../../local/migrate/place.ts';
import type { Order } from '../../../../local/migrate/read-order.ts';
import { named } from '../../../support/migration/refused.ts';

const RUN = 'run-a';
const CUTOVER: Order = {
  name: 'cutover',
  payload: { runId: RUN, execute: true },
  isMeant: true,
  yesRun: RUN,
  stage: undefined,
};
const DONE = { runId: RUN, dryRun: false, phase: 'live', done: true, waitSeconds: 0 };
const NOT_YET = { ...DONE, phase: 'switching', done: false };
const AWAY = new RetryableFailure('RetryableUnavailable', 'nobody answers');

function createTerminal() {
  const output = new PassThrough();
  const shown: string[] = [];
  output.on('data', (chunk) => shown.push(String(chunk)));
  const streams = { input: new PassThrough(), output };
  return { terminal: streams as unknown as Parameters<typeof carryOut>[2], shown };
}

/** Answers a cutover with these, one after the other, and a status never. */
function createPlace(...answers: unknown[]) {
  const invoked: unknown[] = [];
  const place: Place = {
    stage: undefined,
    invoke: async (name, payload) => {
      if (name === 'status') throw AWAY;
      invoked.push(payload);
      return answers.shift();
    },
  };
  return { place, invoked };
}

describe('an order', () => {
  it('that was carried out is done, though nobody tells where the run stands', async () => {
    const { terminal, shown } = createTerminal();
    const answer = await carryOut(CUTOVER, createPlace(DONE).place, terminal);
    expect(answer).toEqual({ command: 'cutover', result: DONE, status: undefined });
    expect(shown.join('')).toBe('Where the run stands now could not be told: nobody answers\n');
  });

  it('is given again until it is done, whatever becomes of what is told meanwhile', async () => {
    const { terminal, shown } = createTerminal();
    const { place, invoked } = createPlace(NOT_YET, NOT_YET, DONE);
    expect(await carryOut(CUTOVER, place, terminal)).toMatchObject({ result: DONE });
    expect(invoked).toEqual(Array.from({ length: 3 }, () => CUTOVER.payload));
    expect(shown.join('').match(/cutover: not done yet, taken again in 0 s/g)).toHaveLength(2);
  });

  it('that waits for another day is not waited for', async () => {
    const tomorrow = { ...NOT_YET, waitSeconds: 86_400 };
    const { place, invoked } = createPlace(tomorrow);
    const { terminal } = createTerminal();
    expect(await carryOut(CUTOVER, place, terminal)).toMatchObject({ result: tomorrow });
    expect(invoked).toHaveLength(1);
  });

  it('that is grave is given to nobody before it is confirmed', async () => {
    const { place, invoked } = createPlace(DONE);
    const { terminal } = createTerminal();
    for (const yesRun of [undefined, 'run-b']) {
      await expect(carryOut({ ...CUTOVER, yesRun }, place, terminal)).rejects.toEqual(
        named('RefusedUnconfirmed'),
      );
    }
    expect(invoked).toEqual([]);
  });
});
