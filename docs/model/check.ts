// Searches the model of the switch exhaustively: as it is, SPIN must find no fault; without one of its safeguards, it must
// find one. Needs `spin` and a C compiler.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODEL = join(import.meta.dirname, 'switch.pml');

/** How often each event of the model happens, at most; the others do not. */
type Events = Readonly<Record<string, number>>;

interface Search {
  readonly name: string;
  readonly events: Events;
  /** Taken out; a fault must be found then. */
  readonly without?: string;
  /** Searches for a run that never opens writes again, instead of a state that must not be. */
  readonly isLiveness?: boolean;
}

const NONE = {
  ...{ WRITES: 0, LATE: 0, LEAKS: 0, FORGOTTEN: 0, DAMAGES: 0, KILLS: 0, LIES: 0, DROPS: 0 },
  COMMANDS: 2,
};

const SEARCHES: readonly Search[] = [
  {
    name: 'stray writes',
    events: { WRITES: 2, LATE: 1, LEAKS: 1, FORGOTTEN: 1, COMMANDS: 2 },
  },
  { name: 'killed', events: { WRITES: 1, LATE: 1, LEAKS: 1, FORGOTTEN: 1, KILLS: 1 } },
  { name: 'killed twice', events: { WRITES: 2, FORGOTTEN: 1, KILLS: 2 } },
  { name: 'damage', events: { WRITES: 2, DAMAGES: 1, KILLS: 1, LIES: 1, COMMANDS: 3 } },
  { name: 'damage and stray writes', events: { WRITES: 1, LATE: 1, FORGOTTEN: 1, DAMAGES: 1 } },
  { name: 'back and forth', events: { WRITES: 2, LATE: 1, LEAKS: 1, COMMANDS: 4 } },
  { name: 'dropped', events: { WRITES: 2, LATE: 1, DROPS: 1, KILLS: 1, LIES: 1 } },
  {
    name: 'writes are opened again',
    events: { WRITES: 1, LEAKS: 1, DAMAGES: 1, KILLS: 1, LIES: 1, COMMANDS: 2 },
    isLiveness: true,
  },
];

const MUTILATED: readonly Search[] = [
  mutilated('NO_FREEZE_PROOF', { WRITES: 2, LIES: 1 }),
  mutilated('NO_SECOND_LOOK', { WRITES: 0, LATE: 1 }),
  mutilated('NO_FUSE', { DAMAGES: 1 }),
  mutilated('SETTING_AFTER_DEPLOYMENT', { WRITES: 1, LEAKS: 1, KILLS: 1 }),
  mutilated('NO_VERSION_PROOF', { LIES: 1 }),
  mutilated('NO_COMPARISON', { WRITES: 1, DROPS: 1 }),
  mutilated('NO_LAST_LOOK', { DAMAGES: 1 }),
  mutilated('NO_NOTE', { WRITES: 1, FORGOTTEN: 1, KILLS: 1 }),
  mutilated('NO_CONDITION', { WRITES: 1, LATE: 1 }),
  mutilated('HOME_AFTER_OPENING', { WRITES: 2, KILLS: 1 }),
  mutilated('ABORT_REMOVES_ALL', { WRITES: 1, LATE: 1, LEAKS: 1 }),
  mutilated('NO_LOOK_BEFORE_REMOVAL', { FORGOTTEN: 1 }),
  mutilated('TWO_VERSIONS', { FORGOTTEN: 1 }),
  mutilated('COUNT_AFTER_REMOVAL', { WRITES: 2, DAMAGES: 1, KILLS: 1 }),
  { ...mutilated('FAILURE_WAITS', { LIES: 1 }), isLiveness: true },
];

function mutilated(without: string, events: Events): Search {
  return { name: without, without, events };
}

const run = promisify(execFile);

interface Result {
  readonly errors: number;
  readonly isComplete: boolean;
  readonly states: number;
  readonly megabytes: number;
  readonly seconds: number;
  readonly output: string;
}

async function search({ events, without, isLiveness = false }: Search): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  try {
    const defined = Object.entries({ ...NONE, ...events }).map(([event, most]) => `-D${event}=${most}`);
    await run('spin', ['-a', ...defined, ...(without ? [`-D${without}`] : []), MODEL], options);
    const kind = isLiveness ? ['-DNFAIR=3'] : ['-DSAFETY', '-DNOCLAIM'];
    await run('cc', ['-O2', '-w', '-DCOLLAPSE', ...kind, '-o', 'pan', 'pan.c'], options);
    const began = performance.now();
    const { stdout: output } = await run(
      './pan',
      ['-m100000', ...(isLiveness ? ['-a', '-f'] : [])],
      options,
    );
    const seconds = (performance.now() - began) / 1_000;
    return { ...readOutput(output), seconds, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readOutput(output: string) {
  const figure = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  return {
    errors: figure(/errors: (\d+)/),
    isComplete: !/max search depth too small|Search not completed|out of memory/.test(output),
    states: figure(/^\s*(\d+) states, stored/m),
    megabytes: figure(/([\d.]+)\s+total actual memory usage/),
  };
}

let passed = 0;
let failed = 0;
const left = [...SEARCHES, ...MUTILATED].filter(({ name }) => !process.argv[2] || name.includes(process.argv[2]));

async function work(): Promise<void> {
  for (let one = left.shift(); one; one = left.shift()) {
    const result = await search(one);
    const { errors, isComplete, states, megabytes, seconds } = result;
    const isRight = one.without ? errors > 0 : errors === 0 && isComplete;
    if (isRight) passed += 1;
    else failed += 1;
    const found = errors > 0 ? /^pan:\d+: (.{0,60})/m.exec(result.output)?.[1] : 'no fault';
    console.log(
      `${isRight ? 'ok    ' : 'FAILED'} ${one.without ? `without ${one.without}` : one.name}: ${found}, ${states} states, ${megabytes} MB, ${seconds.toFixed(1)} s`,
    );
  }
}

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
