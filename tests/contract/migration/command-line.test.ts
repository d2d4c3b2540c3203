// `npm run migrate` as an operator uses it: a process of its own, against the sandbox, told by its exit code and its words.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gate } from '../../../lib/migration/phases.ts';
import { createRemembering } from '../../../lib/migration/runs/remembering.ts';
import { startSandboxWorld } from '../../../local/sandbox/world.ts';
import { createTestTable } from '../../support/test-table.ts';

const COMMAND = join(import.meta.dirname, '../../../local/migrate.ts');
const RUN = 'run-a';
/** Eleven processes, and a store that has to hold still. */
const PATIENT = { timeout: 180_000 };
const OF_RUN = ['--run', RUN];
const START = ['start', ...OF_RUN, '--source', 'memories', '--accept', 'no-graph'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function migrateWith(environment: NodeJS.ProcessEnv, ...words: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [COMMAND, ...words], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

async function createOperator() {
  const { client, tableName, endpoint } = await createTestTable();
  const remembering = createRemembering({ client, tableName, clock: () => new Date() });
  const world = await startSandboxWorld({ runId: RUN, remembering, hasGraph: false });
  onTestFinished(world.close);
  const table = { TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint };
  const named: NodeJS.ProcessEnv = { PATH: process.env.PATH, ...world.environment, ...table };

  const migrate = (...words: string[]) => migrateWith(named, ...words);

  async function start(): Promise<void> {
    expect(await migrate(...START, '--execute')).toMatchObject({ code: 0, stderr: '' });
  }

  const record = () => world.services.runs.read(RUN);

  /** Of the evidence of the moment, as a person types it. */
  async function approvalOf(gate: Gate): Promise<string[]> {
    const evidence = (await record()).evidence['verification-report']?.digest ?? '';
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const who = ['--by', 'ada', '--until', until];
    return ['approve', ...OF_RUN, '--gate', gate, '--evidence', evidence, ...who];
  }

  return { ...world, named, migrate, start, record, approvalOf };
}

describe('a run by its commands', () => {
  it('comes from start into the window, each command naming the next', PATIENT, async () => {
    const { migrate, record, backend, approvalOf } = await createOperator();
    const steps: [words: string[], next: string][] = [
      [[...START, '--execute'], 'preflight --run run-a'],
      [['preflight', ...OF_RUN], 'backup --run run-a --execute'],
      [['backup', ...OF_RUN, '--execute'], 'rebuild --run run-a --execute'],
      [['rebuild', ...OF_RUN, '--execute'], 'copy --run run-a --execute'],
      [['copy', ...OF_RUN, '--execute'], 'verify --run run-a'],
      [['verify', ...OF_RUN], 'approve --run run-a --gate window --evidence '],
    ];
    for (const [words, next] of steps) {
      const ended = await migrate(...words);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout).toContain(`npm run migrate -- ${next}`);
    }
    const approved = await migrate(...(await approvalOf('window')));
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toContain('freeze --run run-a --execute');
    expect(approved.stdout).not.toContain('--gate window');
    const { stdout } = await migrate('status');
    expect(stdout).toMatch(/^run run-a: verified, started /);
    expect(stdout).toContain('verification-report of ');

    // Without a webhook the freeze waits for a person, who does it and says so.
    const freezing = migrate('freeze', ...OF_RUN, '--execute', '--yes-run', RUN);
    await expect.poll(async () => (await record()).phase, { timeout: 20_000 }).toBe('freezing');
    backend.setWriters('nobody');
    expect((await migrate(...(await approvalOf('frozen')))).code).toBe(0);
    const frozen = await freezing;
    expect(frozen.code, frozen.stderr).toBe(0);
    expect(frozen.stderr).toContain(
      'once it is done: npm run migrate -- approve --run run-a --gate frozen',
    );
    expect(frozen.stdout).toContain('freeze: done, the run is frozen');
  });

  it('is given up only when its id is given twice, and then has nothing more to do', async () => {
    const { migrate, start, record } = await createOperator();
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

describe('a dry run', () => {
  it('changes nothing, and says so', async () => {
    const { migrate, services } = await createOperator();
    const { code, stdout } = await migrate(...START);
    expect([code, stdout]).toEqual([0, expect.stringContaining('a dry run, nothing was changed')]);
    expect(await services.lock.latestRun()).toBeUndefined();
  });
});

describe('a machine', () => {
  it('reads one object: what was done, and what may be done next', async () => {
    const { migrate } = await createOperator();
    const { code, stdout } = await migrate(...START, '--execute', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{ command: 'start', exitCode: 0 },
        result: { runId: RUN, dryRun: false, phase: 'started', done: true, waitSeconds: 0 },
        next: [
          { command: 'preflight --run run-a', by: ['operator', 'machine'] },
          { command: 'abandon --run run-a --execute', by: ['operator'] },
        ],
      },
    ]);
  });

  it('reads a refusal by its name', async () => {
    const { migrate } = await createOperator();
    const { code, stdout, stderr } = await migrate('status', '--json');
    expect([code, stderr, JSON.parse(stdout)]).toEqual([
      3,
      '',
      {
        exitCode: 3,
        error: { name: 'RefusedUnknownRun', message: expect.stringContaining('Begin one') },
      },
    ]);
  });
});

describe('wrong use of a run that has started', () => {
  it('is refused by name with its remedy, the run left as it was', async () => {
    const { migrate, start, record } = await createOperator();
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
      ['RefusedInput', 'Correct the named field', ['preflight', '--run', 'Run Z']],
      ['RefusedStage', 'Leave "--stage" out', ['status', '--stage', 'prod']],
    ];
    for (const [name, remedy, words] of wrong) {
      const { code, stdout, stderr } = await migrate(...words);
      expect([code, stdout], words.join(' ')).toEqual([3, '']);
      expect(stderr).toMatch(new RegExp(`^${name}: .*${remedy}.*\\n$`));
    }
    expect(await record()).toEqual(before);
  });
});

describe('a command line that is wrong in itself', () => {
  it.each([
    ['an unknown command', ['migrate'], 'no command "migrate"'],
    ['an unknown option', ['status', '--force'], "'--force'"],
    ['no run', ['copy', '--execute'], 'needs --run'],
  ])('ends with 2 for %s, speaking to nobody', async (_, words, fault) => {
    const { code, stdout, stderr } = await migrateWith({ PATH: process.env.PATH }, ...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^WrongUseError: .+\nSee npm run migrate -- --help\n$/);
    expect(stderr).toContain(fault);
  });
});

describe('a service that is not named', () => {
  it.each([
    'QDRANT_URL',
    'MEMORY_BACKEND_URL',
    'MEMORY_BACKEND_KEY',
    'ARTIFACTS_URL',
    'COLLECTION_SETTING',
  ])('is refused without %s, which is named', async (variable) => {
    const { named } = await createOperator();
    const { code, stderr } = await migrateWith({ ...named, [variable]: '' }, 'status');
    expect(code).toBe(3);
    expect(stderr).toMatch(new RegExp(`^RefusedSetting: .*${variable}.*Set the named variable`));
  });
});

describe('a step that another has its turn of', () => {
  it('fails by the name of what may pass, and leaves the run where it was', async () => {
    const { migrate, start, record, services } = await createOperator();
    await start();
    await services.lock.take(RUN);
    const { code, stderr } = await migrate('preflight', ...OF_RUN);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^RetryableStepRunning: /)]);
    expect((await record()).phase).toBe('started');
  });
});
