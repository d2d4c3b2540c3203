// The command line waits for a step, interrupts it and shows its progress, on a clock that the test sets.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Invoker } from '../../../../../cli/migration/migrate/invoker.ts';
import { shortenRetries } from '../../../../../cli/migration/migrate/local-invoker.ts';
import type { Output } from '../../../../../cli/migration/migrate/output.ts';
import {
  formatWindowTime,
  runStep,
  type Session,
} from '../../../../../cli/migration/migrate/run-step.ts';
import { RetryableFailure, type RetryableName } from '../../../../../lib/migration/refusals.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../../lib/shared/retry.ts';
import { createFakeInvoker, createResult, STATUS } from '../../../support/fake-invoker.ts';
import { RUN } from '../../../support/run-table.ts';

const PAYLOAD = { runId: RUN, execute: true };

function createSession(invoker: Invoker, isLive = true) {
  let now = Date.parse(STATUS.at);
  const shown: string[] = [];
  const lines: string[] = [];
  const output = {
    isJson: false,
    isLive,
    clear: () => {},
    note: () => {},
    mark: () => '!',
    show: (text: string) => shown.push(text),
    line: (text: string) => lines.push(text),
  } as unknown as Output;
  const sleep = async (milliseconds: number) => {
    now += milliseconds;
  };
  const { signal } = new AbortController();
  const nextPoll = async (_: number, ended: AbortSignal) => {
    await setImmediate();
    return !ended.aborted;
  };
  const session: Session = {
    invoker,
    output,
    signal,
    now: () => now,
    sleep,
    nextPoll,
    lastSeen: {},
  };
  return { session, shown, lines, elapsedMs: () => now - Date.parse(STATUS.at) };
}

const failure = (name: RetryableName) => new RetryableFailure(name, 'Another step is at work.');

describe('the lock of another step', () => {
  it('is waited for as long as a crashed step holds it', async () => {
    const refusals = Array.from({ length: 25 }, () => failure('RetryableLockHeld'));
    const { invoker } = createFakeInvoker({ copy: [...refusals, createResult('copied')] });
    const { session, shown, elapsedMs } = createSession(invoker);
    expect(await runStep(session, 'copy', PAYLOAD)).toMatchObject({ phase: 'copied' });
    expect(elapsedMs()).toBe(125_000);
    expect(shown[0]).toContain('Another step is at work.');
  });

  it('is reported if it is not released in time', async () => {
    const refusals = Array.from({ length: 99 }, () => failure('RetryableLockHeld'));
    const { invoker, invoked } = createFakeInvoker({ copy: refusals });
    const { session, elapsedMs } = createSession(invoker);
    await expect(runStep(session, 'copy', PAYLOAD)).rejects.toThrow('at work');
    expect([elapsedMs(), invoked.length]).toEqual([130_000, 27]);
  });

  it('is the only failure that leads to a wait', async () => {
    const { invoker } = createFakeInvoker({ copy: [failure('RetryableUnavailable')] });
    const { session, elapsedMs } = createSession(invoker);
    await expect(runStep(session, 'copy', PAYLOAD)).rejects.toThrow(RetryableFailure);
    expect(elapsedMs()).toBe(0);
  });
});

describe('a transient failure', () => {
  const deadlineAt = '2026-03-01T09:40:00Z';
  const statusIn = (phase: string) => ({ ...STATUS, phase, deadlineAt });
  const failures = (count: number) =>
    Array.from({ length: count }, () => failure('RetryableUnavailable'));

  it('is retried while writes are frozen, with growing pauses', async () => {
    const frozen = statusIn('switching');
    const { invoker } = createFakeInvoker({
      cutover: [...failures(7), createResult('live')],
      // One request for the status fails, so the last status that was read counts.
      status: [frozen, failure('RetryableUnavailable'), ...Array.from({ length: 5 }, () => frozen)],
    });
    const { session, lines, elapsedMs } = createSession(invoker);
    expect(await runStep(session, 'cutover', PAYLOAD)).toMatchObject({ phase: 'live' });
    expect([lines.length, elapsedMs()]).toEqual([7, (2 + 4 + 8 + 16 + 32 + 60 + 60) * 1_000]);
    expect(lines[0]).toMatch(
      /^\[10:00 left\] ! Cutover: RetryableUnavailable: Another .* Trying again in 2s\.$/,
    );
  });

  it('is thrown at the deadline of the window', async () => {
    const statuses = Array.from({ length: 99 }, () => statusIn('switching'));
    const { invoker } = createFakeInvoker({ cutover: failures(99), status: statuses });
    const { session, elapsedMs } = createSession(invoker);
    await expect(runStep(session, 'cutover', PAYLOAD)).rejects.toThrow(RetryableFailure);
    expect(elapsedMs()).toBe(600_000);
  });

  it('is not retried after Ctrl-C', async () => {
    const { invoker } = createFakeInvoker({ backup: failures(1), status: [statusIn('switching')] });
    const { session, lines } = createSession(invoker);
    const interrupted = { ...session, signal: AbortSignal.abort(new Error('Interrupted')) };
    await expect(runStep(interrupted, 'backup', PAYLOAD)).rejects.toThrow('Interrupted');
    expect(lines).toEqual([]);
  });

  it('never ends a rollback', async () => {
    const statuses = Array.from({ length: 99 }, () => statusIn('switching-back'));
    const answers = { rollback: [...failures(50), createResult('copied')], status: statuses };
    const { session, elapsedMs } = createSession(createFakeInvoker(answers).invoker);
    expect(await runStep(session, 'rollback', PAYLOAD)).toMatchObject({ phase: 'copied' });
    expect(elapsedMs()).toBeGreaterThan(600_000);
  });
});

describe('a step that waits for a person', () => {
  const pending = { action: 'freeze', collection: 'memories', since: null, confirmedBy: null };
  const waitingStatus = { ...STATUS, phase: 'switching', pendingAction: pending };

  it('shows once what the person must do, and the command that confirms it', async () => {
    const waiting = createResult('switching', false, 5);
    const { invoker } = createFakeInvoker({
      cutover: [waiting, waiting, createResult('live')],
      status: [waitingStatus, waitingStatus],
    });
    const { session, lines } = createSession(invoker);
    const onWaiting = vi.fn(async () => {});
    await runStep(session, 'cutover', PAYLOAD, onWaiting);
    expect(onWaiting).toHaveBeenCalledTimes(2);
    const confirming = 'To confirm it from another terminal: npm run migrate -- confirm freeze';
    expect(lines).toEqual([expect.stringContaining(confirming)]);
  });
});

describe('a wait', () => {
  const waitsFor = 'running requests to end';
  const lineAt = (seconds: number) => `Cutover: waiting for ${waitsFor}, ${seconds}s left`;
  // The drain takes 25 seconds, and the step is invoked every 10.
  const cutover = () => [
    ...[25, 15, 5].map((leftSeconds) => ({
      ...createResult('switching', false, Math.min(10, leftSeconds)),
      waitsFor,
      leftSeconds,
    })),
    createResult('live'),
  ];

  it('counts down in one line at a terminal, with its reason', async () => {
    const { session, shown, lines } = createSession(
      createFakeInvoker({ cutover: cutover() }).invoker,
    );
    await runStep(session, 'cutover', PAYLOAD);
    const countdown = Array.from({ length: 25 }, (_, elapsed) => lineAt(25 - elapsed));
    expect([shown, lines]).toEqual([countdown, []]);
  });

  it('prints a line at its start and every ten seconds if there is no terminal', async () => {
    const { session, shown, lines } = createSession(
      createFakeInvoker({ cutover: cutover() }).invoker,
      false,
    );
    await runStep(session, 'cutover', PAYLOAD);
    expect([shown, lines]).toEqual([[], [25, 15, 5].map(lineAt)]);
  });
});

describe('the progress of a step', () => {
  async function captureProgress(isLive: boolean) {
    const { promise: copied, resolve } = Promise.withResolvers<unknown>();
    const progress = { step: 'copy', done: 12_400, total: 30_000, perSecond: 2_100 };
    const otherStep = { ...progress, step: 'backup' };
    const polls = [
      new Error('no answer'),
      { ...STATUS, progress: otherStep },
      { ...STATUS, progress },
    ];
    const { invoker } = createFakeInvoker({ status: polls });
    const copying: Invoker = {
      ...invoker,
      async invoke(name, payload) {
        if (name === 'copy') return await copied;
        if (polls.length === 1) setImmediate().then(() => resolve(createResult('copied')));
        return await invoker.invoke(name, payload);
      },
    };
    const { session, shown, lines } = createSession(copying, isLive);
    await runStep(session, 'copy', PAYLOAD);
    return { shown, lines };
  }

  it('is shown at a terminal and logged elsewhere, even if a poll fails', async () => {
    const line = 'Copy: 12,400/30,000 41% 2,100/s ETA 8s';
    expect((await captureProgress(true)).shown).toEqual([line]);
    expect((await captureProgress(false)).lines).toEqual([line]);
  });
});

describe('the time left', () => {
  it.each([
    ['in the window', { deadlineAt: '2026-03-01T09:48:03.900Z' }, '[18:03 left] '],
    ['in its last minute', { deadlineAt: '2026-03-01T09:30:05Z' }, '[00:05 left] '],
    ['after the deadline', { deadlineAt: '2026-03-01T09:29:00Z' }, '[00:00 left] '],
    ['before the window', {}, ''],
    ['in a rollback', { phase: 'switching-back', deadlineAt: '2026-03-01T09:29:00Z' }, ''],
    ['of a live run', { deadlineAt: '2026-03-01T09:48:03Z', retention: {} }, ''],
    ['of a run that has ended', { deadlineAt: '2026-03-01T09:48:03Z', endedAt: 'then' }, ''],
  ])('is shown only while a deadline applies: %s', (_, changes, text) => {
    const { session } = createSession(createFakeInvoker({}).invoker);
    const status = { ...STATUS, ...changes } as unknown as Parameters<typeof formatWindowTime>[1];
    expect(formatWindowTime(session, status)).toBe(text);
  });
});

describe('a vector store that does not answer', () => {
  it('is waited for 30 s and reported every 5 s; Ctrl-C ends the wait', async () => {
    let now = 0;
    const reported: string[] = [];
    const interruption = new AbortController();
    const pace = shortenRetries(
      { ...DEFAULT_RETRY_POLICY, now: () => now },
      { signal: interruption.signal, onWaiting: (line) => reported.push(line) },
    );
    for (now = 0; now < 12_000; now += 1_000) pace.onRetry?.(new Error('ECONNREFUSED'));
    expect(pace.deadlineMs).toBe(30_000);
    expect(reported).toHaveLength(3);
    expect(reported[0]).toContain('ECONNREFUSED');
    interruption.abort();
    await expect(pace.sleep(60_000)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
