// Measures the fidelity, memory and speed of the copy, and compares the copy with a bare loop on the same sandbox in the same
// run. Prints the figures, and exits with 1 if a bar is missed.
// Usage: npm run bench -- migration [points dimensions rounds]
import { createQdrant, type VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { chooseCopySettings } from '../../lib/migration/point-writer.ts';
import { createDigestSum, digestPoint } from '../../lib/migration/points.ts';
import { reconcile } from '../../lib/migration/reconcile.ts';
import { listProblems, type ReconcileReport } from '../../lib/migration/reconcile-report.ts';
import { UNINTERRUPTED } from '../../lib/migration/runs/journal.ts';
import { createCommand, createNumberParser, EXIT, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { generateMemories } from '../../sandbox/awkward-memories.ts';
import { createProgress } from '../progress.ts';
import { atLeast, atMost, type Bar, toMarkdown } from '../report.ts';
import { median } from '../statistics.ts';
import { measureWorker, SMALL_FUNCTION_HEAP, startSandboxProcess } from './processes.ts';
import type { CopyMethod, Measured } from './worker.ts';

const MAX_MEGABYTES = 256;
const MIN_SPEED = 0.7;
const USERS = 500;
const BATCH_SIZE = 250;

interface Size {
  readonly count: number;
  readonly dimensions: number;
  readonly rounds: number;
}

const progress = createProgress();
const resources = createResources();
const atLeastOne = createNumberParser({ min: 1 });
const command = createCommand('npm run bench -- migration', 'Compare the copy with a bare loop.')
  .argument('[points]', 'number of points to copy', atLeastOne, 100_000)
  .argument('[dimensions]', 'dimensions of their vectors', atLeastOne, 384)
  .argument('[rounds]', 'number of rounds; the median counts', atLeastOne, 3)
  .action(async (count, dimensions, rounds) => await compare({ count, dimensions, rounds }));
await runProgram(command, { resources });

async function compare(size: Size): Promise<void> {
  const folder = await resources.createTemporaryFolder('migration-bench-');
  const sandbox = await startSandboxProcess();
  resources.onStop(() => sandbox.child.stop());
  const bars = await measure(sandbox.url, folder, size);
  progress.done();
  const title = `${size.count.toLocaleString('en')} points of ${size.dimensions} dimensions`;
  const limits = SMALL_FUNCTION_HEAP.join(' ');
  console.log(`\n${title}; workers run with ${limits}\n\n${toMarkdown({ bars, tables: [] })}`);
  if (bars.some(({ met }) => met === false)) process.exitCode = EXIT.failed;
}

async function measure(url: string, folder: string, size: Size): Promise<Bar[]> {
  const { count, rounds } = size;
  const vectors = { size: size.dimensions, distance: 'Cosine' } as const;
  const store = createQdrant({ url });
  const measureCopy = async (method: CopyMethod) => {
    await store.createCollection(method, { vectors });
    const measured = await measureWorker(method, url, 'source', method, folder);
    await store.deleteCollection(method);
    progress.step();
    return measured;
  };
  await store.createCollection('source', { vectors });
  const expected = await seed(store, size);
  progress.start('Copy and bare loop, in turns', rounds * 2);
  const bare: Measured[] = [];
  const plain: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await measureCopy('bare'));
    plain.push(await measureCopy('copy'));
  }
  progress.start('Copy with keyword vectors, verified', 2);
  const target = 'filled';
  const sparse_vectors = { bm25: { modifier: 'idf' } } as const;
  await store.createCollection(target, { vectors, sparse_vectors });
  const filled = await measureWorker('copy', url, 'source', target, folder);
  progress.step();
  const report = await verify(store, target);
  progress.start('A snapshot, downloaded and uploaded', 1);
  const snapshot = await measureWorker('snapshot', url, 'source', 'restored', folder);
  const restored = await store.count('restored');
  progress.done();
  return [
    ...createFidelityBars(report, expected, count),
    createCheck(
      'points of the restored snapshot',
      restored === count,
      restored.toLocaleString('en'),
    ),
    ...createCostBars({ bare, plain, filled }, count),
    atMost('resident memory of the snapshot', snapshot.peakMegabytes, MAX_MEGABYTES, ' MB'),
  ];
}

/** Fills the source collection. @returns the digest of the points */
async function seed(store: VectorStore, { count, dimensions }: Size): Promise<string> {
  progress.start('Generated memories into the source', count);
  const digest = createDigestSum();
  let batch = [];
  for (const point of generateMemories({ count, dimensions, users: USERS })) {
    digest.add(digestPoint(point.id, point.payload));
    batch.push(point);
    if (batch.length < BATCH_SIZE) continue;
    await store.upsert('source', batch, 'upsert');
    progress.step(batch.length);
    batch = [];
  }
  if (batch.length > 0) await store.upsert('source', batch, 'upsert');
  return digest.toHex();
}

async function verify(store: VectorStore, target: string): Promise<ReconcileReport> {
  const { report } = await reconcile(
    {
      ...(await chooseCopySettings(store, { from: 'source', to: target })),
      mode: 'repair',
    },
    UNINTERRUPTED,
  );
  progress.step();
  return report;
}

function createFidelityBars(report: ReconcileReport, expected: string, count: number): Bar[] {
  const { from, to, compared, inserted, replaced, deleted } = report;
  const faults = listProblems(report);
  const repaired = inserted + replaced + deleted;
  return [
    createCheck(
      'digest of the source equals that of the generated points',
      from.digest === expected,
      from.digest,
    ),
    createCheck(
      'digest of the target equals that of the source',
      to.digest === expected,
      to.digest,
    ),
    createCheck(
      `comparison: ${faults.join(', ') || 'equal'}`,
      faults.length + repaired === 0 && compared === count,
      `${compared.toLocaleString('en')} vectors compared`,
    ),
  ];
}

function createCostBars(
  runs: { bare: Measured[]; plain: Measured[]; filled: Measured },
  count: number,
): Bar[] {
  const { bare, plain, filled } = runs;
  const [bareMs, plainMs] = [bare, plain].map((copies) =>
    median(copies.map(({ milliseconds }) => milliseconds)),
  );
  const ratio = (bareMs ?? 0) / (plainMs ?? 1);
  const peak = Math.max(...[...plain, filled].map(({ peakMegabytes }) => peakMegabytes));
  const perSecond = (milliseconds = 1) => Math.round(count / (milliseconds / 1_000));
  const reportSpeed = (rule: string, value: number): Bar => ({
    rule,
    figure: `${value.toLocaleString('en')} points/s`,
    limit: '',
    met: undefined,
  });
  return [
    atMost('resident memory of the copy', peak, MAX_MEGABYTES, ' MB'),
    atLeast('speed of the copy over that of the bare loop', ratio, MIN_SPEED, 'x'),
    reportSpeed('bare loop, which changes payloads', perSecond(bareMs)),
    reportSpeed('copy', perSecond(plainMs)),
    reportSpeed('copy with keyword vectors made by the store', perSecond(filled.milliseconds)),
  ];
}

function createCheck(rule: string, met: boolean, figure: string): Bar {
  return { rule, figure: figure.length > 24 ? `${figure.slice(0, 16)}…` : figure, limit: '', met };
}
