// Searches the model of the switch exhaustively. In the whole model SPIN must find no fault and reach every line; with any one
// safeguard removed it must find a fault. Needs SPIN and a C compiler. `node docs/migration/model/check.ts [WORD]` runs the
// searches whose name has the word.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODEL = join(import.meta.dirname, 'switch.pml');

type Event =
  | 'WRITES'
  | 'LATE'
  | 'LEAKS'
  | 'FORGOTTEN'
  | 'DAMAGES'
  | 'KILLS'
  | 'LIES'
  | 'DROPS'
  | 'COMMANDS';

interface Search {
  readonly name: string;
  /** Maximum number of times that each event happens. Two commands are a cutover and a rollback. */
  readonly events: Partial<Readonly<Record<Event, number>>>;
  /** Searches for a sequence of events after which writes never open, instead of for a forbidden state. */
  readonly isEndless?: boolean;
  /** The safeguard that is removed. */
  readonly removedSafeguard?: string;
}

const NO_EVENTS: Readonly<Record<Event, number>> = {
  WRITES: 0,
  LATE: 0,
  LEAKS: 0,
  FORGOTTEN: 0,
  DAMAGES: 0,
  KILLS: 0,
  LIES: 0,
  DROPS: 0,
  COMMANDS: 2,
};

const WHOLE_MODEL: readonly Search[] = [
  { name: 'late, leaked, forgotten', events: { WRITES: 2, LATE: 1, LEAKS: 1, FORGOTTEN: 1 } },
  { name: 'the same, killed', events: { WRITES: 1, LATE: 1, LEAKS: 1, FORGOTTEN: 1, KILLS: 1 } },
  { name: 'killed twice', events: { WRITES: 2, FORGOTTEN: 1, KILLS: 2 } },
  { name: 'emptied', events: { WRITES: 2, DAMAGES: 1, KILLS: 1, LIES: 1, COMMANDS: 3 } },
  { name: 'emptied, late, forgotten', events: { WRITES: 1, LATE: 1, FORGOTTEN: 1, DAMAGES: 1 } },
  { name: 'back and forth', events: { WRITES: 2, LATE: 1, LEAKS: 1, COMMANDS: 4 } },
  { name: 'dropped', events: { WRITES: 2, LATE: 1, DROPS: 1, KILLS: 1, LIES: 1 } },
  {
    name: 'writes are opened',
    events: { WRITES: 1, LEAKS: 1, DAMAGES: 1, KILLS: 1, LIES: 1 },
    isEndless: true,
  },
];

const WITHOUT_SAFEGUARD: readonly Search[] = [
  without('NO_FREEZE_PROOF', { WRITES: 2, LIES: 1 }),
  without('NO_VERSION_PROOF', { LIES: 1 }),
  without('SETTING_AFTER_DEPLOYMENT', { WRITES: 1, LEAKS: 1, KILLS: 1 }),
  without('HOME_AFTER_OPENING', { WRITES: 2, KILLS: 1 }),
  without('NO_COMPARISON', { WRITES: 1, DROPS: 1 }),
  without('NO_LAST_LOOK', { DAMAGES: 1 }),
  without('NO_SECOND_LOOK', { LATE: 1 }),
  without('TWO_VERSIONS', { FORGOTTEN: 1 }),
  without('NO_CONDITION', { WRITES: 1, LATE: 1 }),
  without('NO_NOTE', { WRITES: 1, FORGOTTEN: 1, KILLS: 1 }),
  without('NOTES_DROPPED', { WRITES: 1, FORGOTTEN: 1, KILLS: 1 }),
  without('UNKNOWN_IS_ABSENT', { WRITES: 1, KILLS: 1 }),
  without('BASE_OUTLIVES_RESTORE', { WRITES: 1, DAMAGES: 1 }),
  without('BASE_BEFORE_WRITE', { WRITES: 1, KILLS: 1 }),
  without('NO_FUSE', { DAMAGES: 1 }),
  without('COUNT_AFTER_REMOVAL', { WRITES: 2, DAMAGES: 1, KILLS: 1 }),
  without('DAMAGE_AS_DELETIONS', { DAMAGES: 1 }),
  without('DAMAGE_AS_CHANGES', { DAMAGES: 1 }),
  without('ABORT_REMOVES_ALL', { WRITES: 1, LATE: 1, LEAKS: 1 }),
  without('NO_LOOK_BEFORE_REMOVAL', { FORGOTTEN: 1 }),
  { ...without('FAILURE_WAITS', { LIES: 1 }), isEndless: true },
];

function without(safeguard: string, events: Search['events']): Search {
  return { name: `without its safeguard: ${safeguard}`, events, removedSafeguard: safeguard };
}

const run = promisify(execFile);

/** @returns what SPIN's verifier prints */
async function search({ events, isEndless = false, removedSafeguard }: Search): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  const options = { cwd: folder, maxBuffer: 2 ** 26 };
  try {
    const counts = Object.entries({ ...NO_EVENTS, ...events }).map(
      ([event, max]) => `-D${event}=${max}`,
    );
    await run(
      'spin',
      ['-a', ...counts, ...(removedSafeguard ? [`-D${removedSafeguard}`] : []), MODEL],
      options,
    );
    const kind = isEndless ? ['-DNFAIR=3'] : ['-DSAFETY', '-DNOCLAIM'];
    // More optimisation takes the compiler longer than it saves, and so does any at all if a fault is found at once. States are
    // small: stored uncompressed, they need little more memory and much less time.
    const optimisation = removedSafeguard ? '-O0' : '-O1';
    await run('cc', [optimisation, '-w', ...kind, '-o', 'pan', 'pan.c'], options);
    const fairness = isEndless ? ['-a', '-f'] : [];
    return (await run('./pan', ['-m100000', ...fairness], options)).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let passed = 0;
let failed = 0;

function report(isExpected: boolean, line: string): void {
  if (isExpected) passed += 1;
  else failed += 1;
  console.log(`${isExpected ? '✓' : '✗'} ${line}`);
}

/** SPIN's report of a fault in the model; its other lines are about the search. */
const FAULT = /(?<=^pan:\d+: )(assertion violated|invalid end state|acceptance cycle)/m;

/** Lines that no search of the whole model has reached so far. */
let unreached: ReadonlySet<string> | undefined;

async function runSearch(options: Search): Promise<void> {
  const startedAt = performance.now();
  const output = await search(options);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const fault = FAULT.exec(output)?.[0];
  const isComplete = !/depth too small|not completed|out of memory/i.test(output);
  const states = /(\d+) states, stored/.exec(output)?.[1];
  const megabytes = /([\d.]+)\s+total actual memory/.exec(output)?.[1];
  const found = fault ?? (isComplete && states ? 'no fault' : `broken off: ${output.slice(-200)}`);
  report(
    options.removedSafeguard ? fault !== undefined : found === 'no fault',
    `${options.name}: ${found} (${states} states, ${megabytes} MB, ${seconds} s)`,
  );
  if (options.removedSafeguard) return;
  const lines = new Set(
    [...output.matchAll(/switch\.pml:\d+, state \d+, "(?!-end-).*"/g)].map(([line]) => line),
  );
  unreached = unreached ? new Set([...unreached].filter((line) => lines.has(line))) : lines;
}

for (const [tool, ...versionFlag] of [
  ['spin', '-V'],
  ['cc', '--version'],
] as const) {
  await run(tool, versionFlag).catch(() => {
    console.log(`"${tool}" is missing: apt-get install spin gcc`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  });
}

const word = process.argv[2] ?? '';
const selected = [...WHOLE_MODEL, ...WITHOUT_SAFEGUARD].filter(({ name }) => name.includes(word));
if (selected.length === 0) {
  console.log(`No search is named "${word}": use a part of one of these names.`);
  for (const { name } of [...WHOLE_MODEL, ...WITHOUT_SAFEGUARD]) console.log(`  ${name}`);
  process.exit(2);
}
const remaining = [...selected];

async function work(): Promise<void> {
  for (let next = remaining.shift(); next; next = remaining.shift()) await runSearch(next);
}

await Promise.all([work(), work()]);
if (word === '')
  report(unreached?.size === 0, `nothing of the model is out of reach: ${[...(unreached ?? [])]}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
