// `npm run migrate` through a run, told by its exit code and its words; here and on a stage it is the same.
import { describe, expect, it } from 'vitest';
import {
  CONFIRMED,
  createOperator,
  OF_RUN,
  PATIENT,
  PLACES,
  RUN,
  START,
} from '../../../support/migration/command-line.ts';

describe.each(PLACES)('a run by its commands, %s', (place) => {
  it('comes from start into the window, each command naming the next', PATIENT, async () => {
    const { migrate, succeed, record, backend, approvalOf, suffix } = await createOperator(place);
    const steps: [words: string[], next: string][] = [
      [[...START, '--execute'], `preflight --run run-a${suffix}`],
      [['preflight', ...OF_RUN], `backup --run run-a --execute${suffix}`],
      [['backup', ...OF_RUN, '--execute'], `rebuild --run run-a --execute${suffix}`],
      [['rebuild', ...OF_RUN, '--execute'], `copy --run run-a --execute${suffix}`],
      [['copy', ...OF_RUN, '--execute'], `verify --run run-a${suffix}`],
      [['verify', ...OF_RUN], 'approve --run run-a --gate window --evidence '],
    ];
    for (const [words, next] of steps) {
      expect(await succeed(...words)).toContain(`npm run migrate -- ${next}`);
    }
    const approved = await succeed(...(await approvalOf('window')));
    expect(approved).toContain(`freeze --run run-a --execute${suffix}`);
    expect(approved).not.toContain('--gate window');
    const status = await succeed('status');
    expect(status).toMatch(/^Run run-a: verified since /);
    expect(status).toMatch(/\n {2}window {4}given by ada until .*, 59 minutes left\nNext:\n/);

    // Without a webhook the freeze waits for a person, who does it and says so.
    const freezing = migrate('freeze', ...OF_RUN, ...CONFIRMED);
    const asked = async () => (await record()).asks?.action;
    await expect.poll(asked, { timeout: 20_000 }).toBe('freeze');
    backend.setWriters('nobody');
    await succeed(...(await approvalOf('frozen')));
    const frozen = await freezing;
    expect(frozen.code, frozen.stderr).toBe(0);
    expect(frozen.stderr).toContain('to be done by a person: Stop every write to memories, ');
    expect(frozen.stderr).toMatch(
      new RegExp(
        `once it is done: npm run migrate -- approve --run run-a --gate frozen .*TIME${suffix}\n`,
      ),
    );
    expect(frozen.stdout).toContain('freeze: done, the run is frozen');
  });

  it('is given up only when its id is given twice, and then has nothing more to do', async () => {
    const { migrate, start, record } = await createOperator(place);
    await start();
    const given = ['abandon', ...OF_RUN, '--execute'];
    for (const confirmation of [[], ['--yes-run', 'run-b']]) {
      const { code, stderr } = await migrate(...given, ...confirmation);
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(/^RefusedUnconfirmed: .+--yes-run/),
      ]);
      expect((await record()).phase).toBe('started');
    }
    const ended = await migrate(...given, '--yes-run', RUN);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toBe(
      'abandon: done, the run is abandoned\nNext: nothing, the run has ended.\n',
    );
  });
});

describe.each(PLACES)('a dry run, %s', (place) => {
  it('changes nothing, and says so', async () => {
    const { migrate, services } = await createOperator(place);
    const { code, stdout } = await migrate(...START);
    expect([code, stdout]).toEqual([0, expect.stringContaining('a dry run, nothing was changed')]);
    expect(await services.lock.latestRun()).toBeUndefined();
  });
});

describe.each(PLACES)('a machine, %s', (place) => {
  it('reads one object: what was done, and what may be done next', async () => {
    const { migrate, suffix } = await createOperator(place);
    const { code, stdout } = await migrate(...START, '--execute', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{ command: 'start', exitCode: 0 },
        result: { runId: RUN, dryRun: false, phase: 'started', done: true, waitSeconds: 0 },
        next: [
          { command: `preflight --run run-a${suffix}`, by: ['operator', 'machine'] },
          { command: `abandon --run run-a --execute${suffix}`, by: ['operator'] },
        ],
      },
    ]);
  });

  it('reads a refusal by its name, and its remedy once', async () => {
    const { migrate } = await createOperator(place);
    const { code, stdout, stderr } = await migrate('status', '--json');
    expect([code, stderr, JSON.parse(stdout)]).toEqual([
      3,
      '',
      {
        exitCode: 3,
        error: {
          name: 'RefusedUnknownRun',
          message:
            'There has been no run yet. Begin one with "start", or give the id that "status" shows.',
        },
      },
    ]);
  });
});

describe.each(PLACES)('wrong use of a run that has started, %s', (place) => {
  it('is refused by name with its remedy, the run left as it was', async () => {
    const { migrate, start, record } = await createOperator(place);
    await start();
    const before = await record();
    const wrong: [name: string, remedy: string, words: string[]][] = [
      ['RefusedTooEarly', 'Do the step that comes next', ['copy', ...OF_RUN, '--execute']],
      ['RefusedRunExists', 'Choose another run id', [...START, '--execute']],
      [
        'RefusedOtherRun',
        'Finish that run',
        ['start', '--run', 'run-b', '--source', 'memories', '--execute'],
      ],
      ['RefusedUnknownRun', 'Begin one with "start"', ['preflight', '--run', 'run-z']],
      [
        'RefusedInput',
        'runId has to be 4 to 40 .*Correct what is named',
        ['preflight', '--run', 'Run Z'],
      ],
    ];
    for (const [name, remedy, words] of wrong) {
      const { code, stdout, stderr } = await migrate(...words);
      expect([code, stdout], words.join(' ')).toEqual([3, '']);
      expect(stderr).toMatch(new RegExp(`^${name}: .*${remedy}.*\\n$`));
    }
    expect(await record()).toEqual(before);
  });
});

describe.each(PLACES)('a step that another has its turn of, %s', (place) => {
  it('is waited for, and taken when its turn comes', PATIENT, async () => {
    const { start, record, services, startMigrate } = await createOperator(place);
    await start();
    const lease = await services.lock.take(RUN);
    const { child, ended } = startMigrate('preflight', ...OF_RUN);
    // Not before it has found out that it is another's turn.
    child.stderr.once('data', async () => {
      expect((await record()).phase).toBe('started');
      await services.lock.release(lease);
    });
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^preflight: waiting for its turn, up to 130 s: Another step of run/),
    ]);
    expect((await record()).phase).toBe('checked');
  });
});
