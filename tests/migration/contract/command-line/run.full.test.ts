// `migrate run` completes despite interruptions of every kind.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Invoker } from '../../../../cli/migration/migrate/invoker.ts';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { RUN } from '../../support/migration.ts';
import { createRunningOperator, FROM_THE_START } from '../../support/running-operator.ts';

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return await setTimeout(milliseconds, true, { signal, ref: false }).catch(() => false);
}

type Invoke = Invoker['invoke'];

/** Passes each invocation of a function to `handle`. */
function interceptInvoke(
  invoker: Invoker,
  handle: (name: Parameters<Invoke>[0], invoke: () => ReturnType<Invoke>) => ReturnType<Invoke>,
): Invoker {
  const invoke: Invoke = (name, ...rest) => handle(name, () => invoker.invoke(name, ...rest));
  return { ...invoker, invoke };
}

describe('migrate run', () => {
  it('continues after every lost response', async () => {
    const { type, invoker, phase } = await createRunningOperator();
    let invocations = 0;
    const losingInvoker = interceptInvoke(invoker, async (name, invoke) => {
      const result = await invoke();
      if (name === 'status') return result;
      invocations += 1;
      if (invocations % 2 === 1) throw new Error('The response is lost');
      return result;
    });
    let attempts = 0;
    for (let code = 1; code !== 0 && attempts < 50; attempts += 1) {
      code = (await type(`${FROM_THE_START} --yes`, {}, losingInvoker)).code;
    }
    expect(await phase()).toBe('live');
    expect(attempts).toBeGreaterThan(5);
  });

  it.each([
    ['once', 1, 0, 'live'],
    ['until the deadline', 1_000, 1, 'copied'],
  ])(
    'continues if a service fails inside the window, %s',
    async (_, times, code, expectedPhase) => {
      const { type, phase, invoker, operator } = await createRunningOperator();
      let failures = 0;
      const failingInvoker = interceptInvoke(invoker, async (name, invoke) => {
        if (name === 'cutover' && (await phase()) === 'switching' && failures < times) {
          failures += 1;
          throw new RetryableFailure('RetryableUnavailable', 'The store answered 500.');
        }
        return await invoke();
      });
      const ended = await type(`${FROM_THE_START} --yes`, {}, failingInvoker);
      expect([ended.code, await phase()]).toEqual([code, expectedPhase]);
      expect(ended.output).toMatch(/left\] ! Cutover: .*answered 500.* Trying again in 2s/);
      expect(operator.actions.at(-1)).toBe('open-writes');
    },
  );

  it('ends with the warning that users cannot write if it stops inside the window', async () => {
    const { type, invoker, phase } = await createRunningOperator();
    const brokenInvoker = interceptInvoke(invoker, async (name, invoke) => {
      if (name === 'cutover' && (await phase()) === 'switching') throw new TypeError('A defect');
      return await invoke();
    });
    const { code, status } = await type(`${FROM_THE_START} --yes`, {}, brokenInvoker);
    expect(code).toBe(1);
    const [window, last] = status.trim().split('\n').slice(-2);
    expect(window).toMatch(
      /^The window ends at 2026-\S+ \S+ UTC; .* To roll back now: .* rollback --execute --run run-a$/,
    );
    expect(last).toBe(
      `Users cannot write. Next: npm run migrate -- run --run ${RUN}   (continue with cutover)`,
    );
  });

  it('rolls back at the deadline if a question about a manual action is not answered', async () => {
    const { type, phase, clock, advanceClock } = await createRunningOperator({}, false);
    let advanceUntil = 0;
    const now = () => clock().getTime();
    const nextPoll = async (milliseconds: number, ended: AbortSignal) => {
      if (now() >= advanceUntil) return await waitFor(milliseconds, ended);
      await setImmediate();
      advanceClock(10_000);
      return !ended.aborted;
    };
    const ended = await type(FROM_THE_START, {
      answers: [RUN, null],
      onQuestion: (question) => {
        if (question.includes('automatic rollback at')) advanceUntil = now() + 30 * 60_000;
      },
      time: { nextPoll },
    });
    expect(ended.output).toContain('The deadline has passed: the rollback begins.');
    expect([ended.code, await phase()]).toEqual([1, 'copied']);
  });

  it('rolls back if the operator chooses that instead of the requested action', async () => {
    const { type, phase } = await createRunningOperator({}, false);
    const questions: string[] = [];
    const { code } = await type(FROM_THE_START, {
      // After an unknown word the question is asked again; the rollback then asks to open writes.
      answers: [RUN, 'perhaps', 'rollback', '', '', ''],
      onQuestion: (question) => void questions.push(question),
    });
    expect([code, await phase()]).toEqual([1, 'copied']);
    expect(questions[1]).toContain('Press Enter when this is done, or type "rollback"');
    expect(questions[2]).toEqual(questions[1]);
  });

  it('rolls back without a question if the cutover is refused, and says why', async () => {
    const { type, phase } = await createRunningOperator({ forgetsToFreeze: true });
    const { code, output } = await type(FROM_THE_START, { answers: [RUN] });
    expect([code, await phase()]).toEqual([1, 'copied']);
    expect(output).toMatch(/✗ Cutover: RefusedNotFrozen: .* Stop every writer/);
    expect(output).toMatch(/✓ Rollback: done/);
  });

  it('removes expired data of an aborted run if there is no watchdog', async () => {
    const { type, services, advanceClock } = await createRunningOperator();
    await type(FROM_THE_START);
    await type('abort --execute --yes');
    const listArtifacts = () => Array.fromAsync(services.artifacts.list(`${RUN}/`));
    expect(await listArtifacts()).not.toEqual([]);
    advanceClock(30 * 86_400_000);
    expect(await type('run --yes')).toMatchObject({ code: 0 });
    expect(await listArtifacts()).toEqual([]);
  });

  it('completes if another operator runs the cutover at the same time', async () => {
    const { type, phase, invoker, operator, follow } = await createRunningOperator();
    let hasIntervened = false;
    const racingInvoker = interceptInvoke(invoker, async (name, invoke) => {
      if (name === 'cutover' && (await phase()) === 'switching' && !hasIntervened) {
        hasIntervened = true;
        await follow('cutover');
      }
      return await invoke();
    });
    const { code } = await type(`${FROM_THE_START} --yes`, {}, racingInvoker);
    expect([code, hasIntervened, await phase()]).toEqual([0, true, 'live']);
    expect(operator.actions).not.toContain('deploy-old');
  });

  it.each([
    ['has rolled the run back', 600_000],
    ['is rolling the run back', 0],
  ])('says why it ends if another command %s', async (action, timeLeft) => {
    const { type, phase, invoker, invoke: invokeStep } = await createRunningOperator();
    let hasIntervened = false;
    const racingInvoker = interceptInvoke(invoker, async (name, invoke) => {
      if (name === 'cutover' && (await phase()) === 'switching' && !hasIntervened) {
        hasIntervened = true;
        await invokeStep('rollback', {}, {}, () => timeLeft);
      }
      return await invoke();
    });
    const { code, output } = await type(`${FROM_THE_START} --yes`, {}, racingInvoker);
    expect([code, await phase()]).toEqual([1, 'copied']);
    expect(output).toContain(`! Cutover: another command ${action}.`);
  });

  it.each([
    ['in answer to the question', ''],
    ['from another terminal, which closes the question', null],
  ])(
    'asks a person to perform the actions if there is no webhook, and continues once they are confirmed %s',
    async (_, answer) => {
      const { type, phase, operator, invoker, services } = await createRunningOperator({}, false);
      const performPending = async () => {
        const { pendingAction } = await readStatus(services);
        const { action, collection } = pendingAction ?? {};
        if (action === undefined || collection === undefined)
          throw new Error('No action is pending');
        const request = { runId: RUN, occasion: '', deadlineAt: undefined };
        await operator.hooks.ask({ ...request, action, collection, testUser: testUserOf(RUN) });
        return action;
      };
      const performing = interceptInvoke(invoker, async (name, invoke) => {
        if (name === 'confirm') await performPending();
        return await invoke();
      });
      const confirmElsewhere = async () => {
        const action = await performPending();
        await invoker.invoke('confirm', { runId: RUN, action, confirmedBy: 'bob' });
      };
      const { code, output } = await type(
        FROM_THE_START,
        {
          answers: [RUN, answer, answer, answer],
          onQuestion: (question) => {
            if (answer === null && question.startsWith('Press Enter')) void confirmElsewhere();
          },
          time: { nextPoll: (_, ended) => waitFor(1, ended) },
        },
        performing,
      );
      expect([code, await phase()]).toEqual([0, 'live']);
      expect(operator.actions).toEqual(['freeze', 'deploy-new', 'open-writes']);
      expect(output.match(/^Confirmed by bob\.$/gm)?.length ?? 0).toBe(answer === null ? 3 : 0);
    },
  );
});
