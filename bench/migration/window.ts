// npm run bench -- window [--memories N --dimensions N --against COMMIT]: how long users cannot write during a cutover on
// a real Qdrant, now and in the first edition of the migration, which comes from the history of this repository.
// Exits 1 when it takes more than half as long.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { createQdrant } from '../../lib/migration/adapters/qdrant.ts';
import type { HookAction } from '../../lib/migration/ports/hooks.ts';
import { createCommand, EXIT, runProgram, wholeNumber } from '../../local/processes/program.ts';
import { createRunning } from '../../local/processes/running.ts';
import { StartError } from '../../local/processes/start-error.ts';
import { openPlayground } from '../../sandbox/playground.ts';
import { checkOut, PROJECT, placeIn } from '../editions.ts';
import { atMost, round, toMarkdown } from '../report.ts';

const FIRST_EDITION = 'b924fa6';
const MOST = 0.5;
/** How long the first edition waits for silence: so both editions wait as long for the requests under way. */
const DRAIN_SECONDS = '10';

type Words = readonly string[];

/** Gives a command of the migration. @returns its standard output */
type Give = (...words: Words) => Promise<string>;

interface Migrated {
  readonly give: Give;
  readonly runId: string;
  readonly source: string;
}

const ACCEPTED = ['--accept', 'no-graph', '--free-gb', '1000'];

/** Of the first edition. */
const statusSchema = v.object({
  result: v.object({ gates: v.array(v.object({ digest: v.string() })) }),
});

const running = createRunning();
const command = createCommand('npm run bench -- window', 'Compare the length of two windows.')
  .option('--memories <n>', 'how many to migrate', wholeNumber({ min: 1 }), 30_000)
  .option('--dimensions <n>', 'of their vectors', wholeNumber({ min: 1 }), 384)
  .option('--against <commit>', 'the edition to compare with', FIRST_EDITION)
  .action(compare);
await runProgram(command, { running });

interface Size {
  readonly memories: number;
  readonly dimensions: number;
}

async function compare({ against, ...size }: Size & { readonly against: string }): Promise<void> {
  const first = await secondsOf(await checkedOut(against), migrateByFirstEdition, size);
  const present = await secondsOf(PROJECT, migrate, size);
  const bar = atMost(`window over that of ${against}`, present / first, MOST, 'x');
  const seconds = [`${against}: ${round(first)} s`, `now: ${round(present)} s`].join(', ');
  console.log(`\n${seconds}\n\n${toMarkdown({ bars: [bar], tables: [] })}`);
  if (!bar.met) process.exitCode = EXIT.failed;
}

/** From the freeze of writes to their opening. */
async function secondsOf(
  folder: string,
  migrateBy: (migrated: Migrated) => Promise<unknown>,
  { memories, dimensions }: Size,
): Promise<number> {
  const { QDRANT_URL: qdrantUrl } = process.env;
  if (!qdrantUrl) throw new StartError('Neither QDRANT_URL nor QDRANT_BIN is set');
  const runId = `window-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const doneAt = new Map<HookAction, number>();
  const world = { source, dimensions };
  running.whenStopping(() => removeCollections(qdrantUrl, runId));
  const { environment } = await openPlayground(
    { memories, run: runId, isByHand: false, qdrantUrl, world },
    running,
    (action) => doneAt.has(action) || doneAt.set(action, performance.now()),
  );
  const env = { PATH: process.env.PATH, ...environment };
  const give: Give = async (...words) => {
    const program = placeIn(folder, 'cli/migrate/migrate.ts', 'local/migrate.ts');
    const args = [program, ...words, '--run', runId];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: folder });
    console.log(`${words[0]}: done`);
    return stdout;
  };
  await migrateBy({ give, runId, source });
  return ((doneAt.get('open-writes') ?? Number.NaN) - (doneAt.get('freeze') ?? Number.NaN)) / 1_000;
}

async function migrate({ give, source }: Migrated): Promise<void> {
  const plan = ['--source', source, '--drain-seconds', DRAIN_SECONDS, ...ACCEPTED];
  await give('run', '--yes', ...plan);
}

async function migrateByFirstEdition({ give, runId, source }: Migrated): Promise<void> {
  const confirmed = ['--execute', '--yes-run', runId];
  await give('start', '--execute', '--source', source, ...ACCEPTED);
  await give('preflight');
  for (const step of ['backup', 'rebuild', 'copy']) await give(step, '--execute');
  await give('verify');
  const { result } = v.parse(statusSchema, JSON.parse(await give('status', '--json')));
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const evidence = ['--evidence', result.gates[0]?.digest ?? '', '--until', until];
  await give('approve', '--gate', 'window', '--by', 'bench', ...evidence);
  await give('freeze', ...confirmed);
  for (const step of ['backup', 'copy']) await give(step, '--execute');
  await give('verify');
  await give('cutover', ...confirmed);
}

/** The commit in a folder of its own. */
async function checkedOut(commit: string): Promise<string> {
  const folder = await running.temporaryFolder('edition-');
  await checkOut(commit, folder);
  return folder;
}

async function removeCollections(url: string, runId: string): Promise<void> {
  const store = createQdrant({ url });
  const names = (await store.listCollections()).filter((name) => name.includes(runId));
  for (const name of names) await store.deleteCollection(name);
}
