// Measures how long users cannot write (the window) during a migration on a real Qdrant: with a new collection, in place, and
// with an earlier version of this repository. Exits with 1 if a bar is missed.
// Usage: npm run bench -- window [--memories N --dimensions N --drain-seconds N --against COMMIT]
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { createQdrant, type VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import type { HookAction } from '../../lib/migration/ports/hooks.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import { createCommand, createNumberParser, EXIT, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { openPlayground } from '../../sandbox/playground.ts';
import { type QdrantServer, startQdrant } from '../../sandbox/real/qdrant-server.ts';
import { atMost, type Bar, formatNumber, markNotJudged, toMarkdown } from '../report.ts';
import { checkOut, findFile, PROJECT } from '../versions.ts';

/** Release 0.1.0. It cannot cut over again after a rollback. */
const EARLIER_COMMIT = 'dd2c40c';
/** With at least this many memories, reading them takes most of the window. */
const MANY_MEMORIES = 30_000;
const ACCEPT_OPTIONS = ['--accept', 'no-graph', '--free-gb', '1000'];
const MAX_RATIO_TO_EARLIER = 0.8;
const MAX_SECONDS = 6;
const MAX_SECONDS_IN_PLACE = 5;
const MAX_DISK_IN_PLACE = 1.2;
const MEGABYTE = 1e6;
const POLL_MS = 500;

interface Size {
  readonly memories: number;
  readonly dimensions: number;
  readonly drainSeconds: number;
}

interface Mode {
  readonly title: string;
  /** Folder with the code of the version to measure. */
  readonly folder: string;
  readonly options: readonly string[];
  /** True if the same run cuts over again after a rollback. */
  readonly isRepeated: boolean;
}

/** Times are in seconds, and `written` is in megabytes. `disk` is a multiple of the size of the collection and one snapshot. */
interface Measured {
  readonly mode: string;
  readonly window: number;
  /** The part of the window before the new version is deployed. */
  readonly untilDeployed: number;
  /** The time of each stage; empty for a version that does not report them. */
  readonly stages: string;
  readonly rollback: number;
  /** The window after the rollback, in the same run; undefined if the version cannot cut over again. */
  readonly secondWindow: number | undefined;
  readonly secondStages: string | undefined;
  /** Duration of the first `run` command. */
  readonly firstRun: number;
  readonly written: number;
  readonly disk: number;
}

const COLUMNS = [
  'mode',
  'window, s',
  'until the new version is deployed',
  'stages, s',
  'rollback, s',
  'second window, s',
  'stages, s',
  'first run, s',
  'written by the store, MB',
  'peak disk, as a multiple of collection and snapshot',
];

const STAGES = ['freeze', 'backup', 'copy', 'deploy'];

const statusSchema = v.object({ result: v.object({ took: v.record(v.string(), v.number()) }) });

const resources = createResources();
const command = createCommand('npm run bench -- window', 'Compare the windows of migrations.')
  .option(
    '--memories <n>',
    'number of memories to migrate',
    createNumberParser({ min: 1 }),
    MANY_MEMORIES,
  )
  .option(
    '--dimensions <n>',
    'number of dimensions of their vectors',
    createNumberParser({ min: 1 }),
    384,
  )
  .option(
    '--drain-seconds <n>',
    'seconds to wait in each window for writes under way',
    createNumberParser({ min: 1 }),
    2,
  )
  .option('--against <commit>', 'the version to compare with; "nothing" for none', EARLIER_COMMIT)
  .action(compare);
await runProgram(command, { resources });

async function compare({ against, ...size }: Size & { readonly against: string }): Promise<void> {
  if (!process.env.QDRANT_BIN) throw new UserError('QDRANT_BIN is not set');
  // Switches indexing off. A Qdrant that was built with debug assertions stops when a slot is added to an indexed collection
  // (docs/migration/decisions/0010-in-place.md).
  process.env.QDRANT__STORAGE__OPTIMIZERS__INDEXING_THRESHOLD_KB = '0';
  const qdrant = await startQdrant(resources);
  const current = { folder: PROJECT, isRepeated: true };
  const earlier = against === 'nothing' ? undefined : await measureEarlier(against, qdrant, size);
  const newCollection = await measure(
    { title: 'new collection', ...current, options: [] },
    qdrant,
    size,
  );
  const inPlace = await measure(
    { title: 'in place', ...current, options: ['--in-place'] },
    qdrant,
    size,
  );
  const rows = [...(earlier ? [earlier] : []), newCollection, inPlace].map(listFigures);
  const title = `${size.memories.toLocaleString('en')} memories of ${size.dimensions} dimensions, not indexed; ${size.drainSeconds} s to drain:`;
  const bars = createBars({ earlier, newCollection, inPlace }, against, size);
  console.log(`\n${toMarkdown({ bars, tables: [{ title, columns: COLUMNS, rows }] })}`);
  if (bars.some(({ met }) => met === false)) process.exitCode = EXIT.failed;
}

async function measureEarlier(commit: string, qdrant: QdrantServer, size: Size): Promise<Measured> {
  const folder = await resources.createTemporaryFolder('version-');
  await checkOut(commit, folder);
  return await measure({ title: commit, folder, options: [], isRepeated: false }, qdrant, size);
}

function listFigures(measured: Measured): string[] {
  return Object.values(measured).map((figure) =>
    typeof figure === 'number' ? formatNumber(figure) : (figure ?? ''),
  );
}

interface Results {
  readonly earlier: Measured | undefined;
  readonly newCollection: Measured;
  readonly inPlace: Measured;
}

function createBars(
  { earlier, newCollection, inPlace }: Results,
  against: string,
  size: Size,
): Bar[] {
  const beyondDrain = (step: string, seconds: number, limit: number) =>
    atMost(`${step}, beyond the drain`, seconds - size.drainSeconds, limit, ' s');
  const windowBar = beyondDrain('window', newCollection.window, MAX_SECONDS);
  const ratio = newCollection.window / (earlier?.window ?? Number.NaN);
  const ratioBar = atMost(`window, relative to ${against}`, ratio, MAX_RATIO_TO_EARLIER, 'x');
  const hasManyMemories = size.memories >= MANY_MEMORIES;
  return [
    ...(earlier ? [hasManyMemories ? ratioBar : markNotJudged(ratioBar)] : []),
    hasManyMemories ? markNotJudged(windowBar) : windowBar,
    beyondDrain('window in place', inPlace.window, MAX_SECONDS_IN_PLACE),
    beyondDrain('rollback in place', inPlace.rollback, MAX_SECONDS_IN_PLACE),
    atMost('disk in place', inPlace.disk, MAX_DISK_IN_PLACE, 'x'),
  ];
}

async function measure(
  { title, folder, options, isRepeated }: Mode,
  qdrant: QdrantServer,
  { memories, dimensions, drainSeconds }: Size,
): Promise<Measured> {
  const runId = `window-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const store = createQdrant({ url: qdrant.url });
  const windows: Map<HookAction, number>[] = [];
  // A slow action is requested repeatedly until it is done. Only the first request counts.
  const recordAction = (action: HookAction) => {
    if (action === 'freeze' && windows.at(-1)?.has('open-writes') !== false)
      windows.push(new Map());
    const window = windows.at(-1);
    if (!window?.has(action)) window?.set(action, performance.now());
  };
  const world = { source, dimensions, isInPlace: options.includes('--in-place') };
  resources.onStop(() => removeCollections(store, runId));
  const { environment } = await openPlayground(
    { memories, run: runId, isByHand: false, qdrantUrl: qdrant.url, world },
    resources,
    recordAction,
  );
  const runCommand = async (...commandArgs: readonly string[]) => {
    const program = findFile(
      folder,
      'cli/migration/migrate/migrate.ts',
      'cli/migrate/migrate.ts',
      'local/migrate.ts',
    );
    const env = { PATH: process.env.PATH, ...environment };
    const startedAt = performance.now();
    const args = [program, ...commandArgs, '--run', runId];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: folder });
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(`${title}: ${commandArgs[0]} in ${formatNumber(seconds)} s`);
    return { stdout, seconds };
  };
  /** Returns the seconds from the freeze of the nth window to an action. */
  const measureSpan = (n: number, to: HookAction) => {
    const [from, until] = [windows[n]?.get('freeze'), windows[n]?.get(to)];
    return ((until ?? Number.NaN) - (from ?? Number.NaN)) / 1_000;
  };
  const diskWatch = await watchDisk(store, source, qdrant);
  const planOptions = [
    '--source',
    source,
    '--drain-seconds',
    `${drainSeconds}`,
    ...ACCEPT_OPTIONS,
    ...options,
  ];
  const { seconds: firstRun } = await runCommand('run', '--yes', ...planOptions);
  const { written, disk } = await diskWatch.end();
  const stages = listStages((await runCommand('status', '--json')).stdout);
  await runCommand('rollback', '--execute', '--yes');
  if (isRepeated) await runCommand('run', '--yes');
  const secondStages = listStages((await runCommand('status', '--json')).stdout);
  await removeCollections(store, runId);
  return {
    mode: title,
    window: measureSpan(0, 'open-writes'),
    untilDeployed: measureSpan(0, 'deploy-new'),
    stages,
    rollback: measureSpan(1, 'open-writes'),
    secondWindow: isRepeated ? measureSpan(2, 'open-writes') : undefined,
    secondStages: isRepeated ? secondStages : undefined,
    firstRun,
    written,
    disk,
  };
}

/** Formats the times of the stages, such as `freeze 2, backup 1.3`. */
function listStages(status: string): string {
  const parsed = v.safeParse(statusSchema, JSON.parse(status));
  const secondsByStage = parsed.success ? Object.entries(parsed.output.result.took) : [];
  const stages = secondsByStage.filter(([name]) => STAGES.includes(name));
  return stages.map(([name, seconds]) => `${name} ${formatNumber(seconds)}`).join(', ');
}

/** Measures the bytes that the store writes and its peak disk usage, until `end` is called. */
async function watchDisk(store: VectorStore, collection: string, { child, folder }: QdrantServer) {
  const { pid } = child();
  const startBytes = await measureFolder(folder);
  const baseline = startBytes + (await measureSnapshot(store, collection));
  const initialBytesWritten = await countWrittenBytes(pid);
  let peak = startBytes;
  let isEnded = false;
  const watching = (async () => {
    while (!isEnded) {
      peak = Math.max(peak, await measureFolder(folder));
      await pause(POLL_MS);
    }
  })();
  return {
    async end() {
      isEnded = true;
      await watching;
      return {
        written: ((await countWrittenBytes(pid)) - initialBytesWritten) / MEGABYTE,
        disk: peak / baseline,
      };
    },
  };
}

async function measureSnapshot(store: VectorStore, collection: string): Promise<number> {
  await store.startSnapshot(collection);
  for (;;) {
    const [snapshot] = await store.listSnapshots(collection);
    if (!snapshot) {
      await pause(POLL_MS);
      continue;
    }
    await store.deleteSnapshot(collection, snapshot.name);
    return snapshot.size;
  }
}

/** Reads the number of bytes that a process has written. Works only on Linux. */
async function countWrittenBytes(pid: number): Promise<number> {
  const figures = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^write_bytes: (\d+)$/m.exec(figures)?.[1]);
}

/** Adds up the allocated blocks, not the file sizes, because the store's files are sparse. */
async function measureFolder(folder: string): Promise<number> {
  // Files may disappear while they are listed.
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = entries.map(async (name) => (await stat(join(folder, name))).blocks * 512);
  const settled = await Promise.allSettled(sizes);
  return settled.reduce(
    (sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0),
    0,
  );
}

async function removeCollections(store: VectorStore, runId: string): Promise<void> {
  const names = (await store.listCollections()).filter((name) => name.includes(runId));
  for (const name of names) await store.deleteCollection(name);
}
