// Typed words become the input of a function, and its result becomes lines and an exit code.
import { describe, expect, it } from 'vitest';
import { getCommand } from '../../../../../cli/migration/migrate/commands.ts';
import { buildPayload } from '../../../../../cli/migration/migrate/options.ts';
import { Refusal, RetryableFailure } from '../../../../../lib/migration/refusals.ts';
import { stepInputSchema } from '../../../../../lib/migration/runs/input.ts';
import { preflightInputSchema } from '../../../../../lib/migration/steps/preflight.ts';
import { createFakeInvoker, createResult, STATUS } from '../../../support/fake-invoker.ts';
import { RUN } from '../../../support/run-table.ts';
import { typeCommand } from '../../../support/typed-command.ts';

const PREREQUISITE = { name: 'Vector store', detail: 'version 1.18.2', problems: [] };
const MET = { runId: RUN, dryRun: false, plan: STATUS.plan, prerequisites: [PREREQUISITE] };

const STEPS = ['preflight', 'backup', 'copy', 'rollback', 'abort'] as const;

describe('an input', () => {
  it('has a field for every option of the command line', async () => {
    const { invoker, invoked } = createFakeInvoker({ preflight: [MET] });
    const planOptions = '--source memories --upload-as m2 --window-minutes 20 --retention-days 60';
    const otherOptions =
      '--free-gb 40 --accept no-graph --accept expired-memories --removes-when-over --removes-artifacts-when-over';
    await typeCommand(invoker, `preflight --run ${RUN} --execute ${planOptions} ${otherOptions}`);
    expect(invoked).toEqual([
      {
        name: 'preflight',
        payload: {
          runId: RUN,
          execute: true,
          sourceCollection: 'memories',
          uploadAs: 'm2',
          windowMinutes: 20,
          retentionDays: 60,
          freeBytes: 40e9,
          accepts: ['no-graph', 'expired-memories'],
          removesWhenOver: true,
          removesArtifactsWhenOver: true,
        },
      },
    ]);
  });

  it('is for the current run unless the command names a run', async () => {
    const { invoker, invoked } = createFakeInvoker({});
    await typeCommand(invoker, 'backup --execute');
    await typeCommand(invoker, 'backup --run run-b');
    expect(invoked.map(({ payload }) => payload)).toEqual([
      { runId: RUN, execute: true },
      { runId: 'run-b' },
    ]);
  });

  it.each([
    ['there is no run', new Refusal('RefusedUnknownRun', 'None.')],
    ['the latest run has ended', { ...STATUS, phase: 'copied', endedAt: STATUS.at }],
  ])(
    'of a preflight with a source starts a new run, named after the date, if %s',
    async (_, latest) => {
      const { invoker, invoked } = createFakeInvoker({ preflight: [MET], status: [latest] });
      const time = { now: () => Date.parse(STATUS.at) };
      const { code } = await typeCommand(invoker, 'preflight --source memories', { time });
      const payload = { runId: '2026-03-01', sourceCollection: 'memories' };
      expect([code, invoked]).toEqual([0, [{ name: 'preflight', payload }]]);
    },
  );

  it.each(STEPS)('has only options that the function of %s reads', (name) => {
    const { entries } = name === 'preflight' ? preflightInputSchema : stepInputSchema;
    const typed = Object.fromEntries(
      getCommand(name).options.map((option) => [
        option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        1,
      ]),
    );
    expect(Object.keys(entries)).toEqual(expect.arrayContaining(Object.keys(buildPayload(typed))));
  });
});

describe('a wrong command', () => {
  it.each([
    ['migrate', 'unknown command'],
    ['copy --run', 'argument missing'],
    ['copy --run Run', '4 to 40'],
    ['copy --force', '--force'],
    ['copy again', 'too many arguments'],
    ['preflight --free-gb -5', 'whole number'],
    ['preflight --free-gb 1e400', 'whole number'],
    [`preflight --free-gb ${'9'.repeat(20)}`, 'whole number'],
    ['status --execute', '--execute'],
    ['confirm', 'missing required argument'],
    ['confirm breakfast', 'deploy-new'],
    ['preflight --window-minutes 241', '1 to 240'],
    ['preflight --accept everything', 'no-graph'],
    ['status --stage pr/od', 'name of a stage'],
    ['preflight --source a/b', 'none of them /'],
    ['run --source memories --upload-as a:b', 'none of them /'],
    ['run --report of-today', 'first 8 hexadecimal digits'],
    [`confirm freeze --by ${'a'.repeat(101)}`, '1 to 100 characters'],
    ['rollback --as-it-was --to-snapshot', "cannot be used with option '--to-snapshot'"],
    ['', 'Usage: npm run migrate --'],
  ])('"%s" exits with 2 and invokes nothing', async (commandLine, message) => {
    const { invoker, invoked } = createFakeInvoker({});
    const { code, output, status } = await typeCommand(invoker, commandLine);
    expect([code, output]).toEqual([2, '']);
    expect(status).toContain(message);
    expect(status).not.toContain('outputHelp');
    expect(invoked).toEqual([]);
  });
});

describe('a command that stops users', () => {
  it.each(['rollback', 'abort'] as const)(
    '%s is confirmed by the run id or by --yes, and by nothing else',
    async (name) => {
      const status = { ...STATUS, moves: [{ command: name }] };
      const answers = {
        [name]: [createResult('a'), createResult('b')],
        status: Array(20).fill(status),
      };
      const { invoker, invoked } = createFakeInvoker(answers);
      const commandLine = `${name} --run ${RUN} --execute`;
      for (const answers of [undefined, ['yes'], [''], ['run'], ['RUN-A']]) {
        const refused = await typeCommand(invoker, commandLine, { ...(answers && { answers }) });
        expect(refused).toMatchObject({ code: 3 });
        expect(refused.status).toContain('RefusedNotApproved');
      }
      expect(invoked).toEqual([]);
      for (const [confirmation, flag, options] of [
        ['the run id', '', { answers: [RUN] }],
        ['--yes', ' --yes', {}],
      ] as const) {
        const { code, status } = await typeCommand(invoker, commandLine + flag, options);
        expect([code, status]).toEqual([
          0,
          expect.stringContaining(`Confirmed by ${confirmation}: `),
        ]);
      }
      expect(invoked).toHaveLength(2);
    },
  );

  it('asks for no confirmation if it would be refused anyway', async () => {
    const ended = { ...STATUS, phase: 'aborted', moves: [], endedAt: STATUS.at };
    const refusal = new Refusal('RefusedNotNow', 'No rollback in a run that is aborted.');
    const { invoker } = createFakeInvoker({ rollback: [refusal], status: Array(3).fill(ended) });
    const { code, status } = await typeCommand(invoker, `rollback --run ${RUN} --execute`);
    expect([code, status]).toEqual([3, expect.stringContaining('No rollback')]);
  });

  it('asks for no confirmation of a dry run', async () => {
    const forecast = { returnsTo: 'memories', leavesBehind: { atLeast: 3 } };
    const { invoker } = createFakeInvoker({ rollback: [{ runId: RUN, dryRun: true, forecast }] });
    const { code, output } = await typeCommand(invoker, 'rollback');
    const lines = '\n  returns to: memories\n  leaves behind: at least 3\n';
    expect([code, output]).toEqual([0, expect.stringContaining(lines)]);
  });
});

describe('a preflight', () => {
  it('reports functions of another version', async () => {
    const { invoker } = createFakeInvoker({
      preflight: [{ runId: RUN, dryRun: true, forecast: {} }],
    });
    const { code, status } = await typeCommand(invoker, 'preflight --source m');
    expect([code, status]).toEqual([1, expect.stringContaining('are of different versions')]);
  });

  const unmet = {
    name: 'Memories',
    detail: 'cannot be used',
    problems: [{ why: 'W.', remedy: 'R.' }],
  };
  const unchecked = { ...PREREQUISITE, name: 'Disk space', isUnchecked: true };
  const failedCheck = { ...MET, dryRun: true, prerequisites: [PREREQUISITE, unmet, unchecked] };

  it.each(['', ' --execute'])(
    'shows all its problems and exits with 3, with the options "%s"',
    async (execute) => {
      const { invoker } = createFakeInvoker({ preflight: [failedCheck] });
      const { code, output, status } = await typeCommand(invoker, `preflight --source m${execute}`);
      expect(code).toBe(3);
      expect(output).toMatch(
        /✓ Vector store.*✗ Memories.*W\. R\..*! Disk space.*1 of 3 met, 1 not met, 1 not checked/s,
      );
      expect(status).toMatch(/^RefusedPrerequisites: Not met: Memories\./);
    },
  );
});

describe('a status', () => {
  it.each(['hasReturned', 'isRepeated'])(
    'without "%s" comes from functions of another version',
    async (name) => {
      const { invoker } = createFakeInvoker({ status: [{ ...STATUS, [name]: undefined }] });
      const { code, status } = await typeCommand(invoker, `status --run ${RUN}`);
      expect([code, status]).toEqual([1, expect.stringContaining('are of different versions')]);
    },
  );
});

describe('run', () => {
  it('is refused if the cutover is blocked', async () => {
    const takesNoWindow = 'memories_v3 has writes that were left behind';
    const blocked = { ...STATUS, phase: 'copied', next: null, takesNoWindow };
    const { invoker, invoked } = createFakeInvoker({ status: [blocked, blocked, blocked] });
    const { code, output, status } = await typeCommand(invoker, 'run --yes');
    expect(code).toBe(3);
    expect(output + status).toContain(`Cutover blocked: ${takesNoWindow}`);
    expect(invoked).toEqual([]);
  });

  it('describes what it does with a run that is rolling back', async () => {
    const moves = [{ command: 'rollback' }];
    const rollingBack = { ...STATUS, phase: 'switching-back', next: 'rollback', moves };
    const rolledBack = { ...STATUS, phase: 'copied', moves: [] };
    const { invoker } = createFakeInvoker({
      rollback: [createResult('copied')],
      status: [rollingBack, rolledBack],
    });
    const { output } = await typeCommand(invoker, 'run');
    expect(output).toMatch(/^Rollback of run run-a \(switching-back\)/);
    expect(output).toContain('back to memories');
    expect(output).not.toContain('Creates');
  });
});

describe('a step', () => {
  it('ends the command if it completes without advancing the run', async () => {
    const answers = [createResult('live'), new Error('Invoked again')];
    const { invoker } = createFakeInvoker({ backup: answers });
    const { code, status } = await typeCommand(invoker, 'run');
    expect(code).toBe(1);
    expect(status).toMatch(/^FunctionFailedError: .* is done, but the run is still /);
  });

  it('is invoked once if it waits for another day', async () => {
    const { invoker, invoked } = createFakeInvoker({
      backup: [createResult('live', false, 86_400)],
    });
    expect(await typeCommand(invoker, 'backup --execute')).toMatchObject({ code: 0 });
    expect(invoked).toHaveLength(1);
  });

  it('is confirmed with the action and the name of the person', async () => {
    const { invoker, invoked } = createFakeInvoker({
      confirm: [{ runId: RUN, action: 'freeze', confirmedBy: 'ada' }],
    });
    const { code, output } = await typeCommand(invoker, 'confirm freeze --by ada');
    expect(code).toBe(0);
    const payload = { runId: RUN, action: 'freeze', confirmedBy: 'ada' };
    expect(output).toContain('Confirmed by ada: "freeze" of run run-a is done.');
    expect(invoked).toEqual([{ name: 'confirm', payload }]);
  });

  it.each([
    ['before the run is ready', 'checked'],
    ['after the run has ended', 'aborted'],
  ])('such as a cutover is refused %s', async (_, phase) => {
    const { invoker, invoked } = createFakeInvoker({ status: Array(3).fill({ ...STATUS, phase }) });
    const { code, status } = await typeCommand(invoker, 'cutover --execute --yes');
    expect([code, status, invoked]).toEqual([3, expect.stringContaining('RefusedNotNow'), []]);
  });

  it('of a run that does not exist yet reports no status', async () => {
    const unknown = new Refusal('RefusedUnknownRun', 'There is no run run-a.');
    const { invoker } = createFakeInvoker({
      backup: [createResult('backed-up')],
      status: [unknown, unknown],
    });
    const { code, status } = await typeCommand(invoker, `backup --run ${RUN}`);
    expect([code, status]).toEqual([0, '']);
  });

  it('counts as done even if the status afterwards fails', async () => {
    const outage = new RetryableFailure('RetryableUnavailable', 'no answer');
    const { invoker } = createFakeInvoker({
      backup: [createResult('backed-up')],
      status: [outage, outage],
    });
    expect(await typeCommand(invoker, `backup --run ${RUN} --execute`)).toMatchObject({ code: 0 });
  });
});

describe('a result', () => {
  it.each([
    ['status', {}, 0],
    ['backup --execute', { backup: [createResult('backed-up')] }, 0],
    ['backup --execute', { backup: [new Refusal('RefusedNotNow', 'No.')] }, 3],
    ['backup --execute', { backup: [new RetryableFailure('RetryableUnavailable', 'No.')] }, 1],
    ['backup --run R', {}, 2],
  ])(
    'to "%s" is one JSON object on each line, with the next steps',
    async (commandLine, answers, exitCode) => {
      const { invoker } = createFakeInvoker(answers);
      const { code, events, status } = await typeCommand(invoker, `${commandLine} --json`);
      expect([code, status, events.length]).toEqual([exitCode, '', 1]);
      expect(events[0]).toMatchObject({ event: expect.any(String), exitCode });
      const steps = ['run', 'backup --execute', 'abort --execute'].map(
        (step) => `npm run migrate -- ${step} --run ${RUN}`,
      );
      expect(events[0]?.next_steps).toEqual(exitCode === 2 ? [] : steps);
    },
  );

  it('of a status without a run names the table and how to begin', async () => {
    const none = new Refusal('RefusedUnknownRun', 'None.');
    const { invoker } = createFakeInvoker({ status: [none, none] });
    const { code, status } = await typeCommand(invoker, 'status');
    expect(code).toBe(3);
    expect(status).toContain(invoker.where);
    expect(status).toContain('npm run migrate -- run --source');
  });

  it('names a stage in every next step', async () => {
    const { invoker } = createFakeInvoker({});
    const { events } = await typeCommand(
      { ...invoker, stage: 'prod' },
      'status --json --stage prod',
    );
    expect(events[0]?.next_steps).toEqual(Array(3).fill(expect.stringMatching(/--stage prod$/)));
  });
});
