// npm run bench -- migration [points dimensions rounds]: fidelity, memory and speed of the copy, against a bare
// loop on the same sandbox in the same run. Prints the figures, and exits 1 when a bar is missed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createQdrant, type VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { copySettings } from '../../lib/migration/point-writer.ts';
import { createDigestSum, digestOf } from '../../lib/migration/points.ts';
import { reconcile } from '../../lib/migration/reconcile.ts';
import { faultsIn, type ReconcileReport } from '../../lib/migration/reconcile-report.ts';
import { memories } from '../../sandbox/awkward-memories.ts';
import { createProgress } from '../progress.ts';
import { atLeast, atMost, type Bar, toMarkdown } from '../report.ts';
import { median } from '../statistics.ts';
import { HEAP_OF_A_SMALL_FUNCTION, measureWorker, startSandboxProcess } from './processes.ts';
import type { Measured, Way } from './worker.ts';

const MOST_MEGABYTES = 256;
const LEAST_SPEED = 0.7;
const USERS = 500;
const BATCH = 250;

const [count = 100_000, dimensions = 384, rounds = 3] = process.argv.slice(2).map(Number);
const progress = createProgress();
const folder = await mkdtemp(join(tmpdir(), 'migration-bench-'));
const sandbox = await startSandboxProcess();
try {
  const bars = await measure(sandbox.url);
  const title = `${count.toLocaleString('en')} points of ${dimensions} dimensions`;
  const limits = HEAP_OF_A_SMALL_FUNCTION.join(' ');
  console.log(`\n${title}; workers run with ${limits}\n\n${toMarkdown({ bars, tables: [] })}`);
  if (bars.some(({ met }) => met === false)) process.exitCode = 1;
} finally {
  progress.done();
  await sandbox.child.stop();
  await rm(folder, { recursive: true });
}

async function measure(url: string): Promise<Bar[]> {
  const store = createQdrant({ url });
  const expected = await seed(store);
  progress.start('Copy and bare loop, in turns', rounds * 2);
  const bare: Measured[] = [];
  const plain: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await copied(store, 'bare', url, {}));
    plain.push(await copied(store, 'copy', url, {}));
  }
  progress.start('Copy with keyword vectors, verified', 2);
  const target = 'filled';
  await createCollection(store, target, { sparse_vectors: { bm25: { modifier: 'idf' } } });
  const filled = await measureWorker('copy', url, 'source', target, folder);
  progress.step();
  const report = await verify(store, target);
  progress.start('A snapshot, down and up again', 1);
  const snapshot = await measureWorker('snapshot', url, 'source', 'restored', folder);
  const restored = await store.count('restored');
  progress.done();
  return [
    ...fidelityBars(report, expected),
    holds('points of the restored snapshot', restored === count, restored.toLocaleString('en')),
    ...costBars({ bare, plain, filled }),
    atMost('resident memory of the snapshot', snapshot.peakMegabytes, MOST_MEGABYTES, ' MB'),
  ];
}

/** Fills the source, and returns the digest of what was meant to be in it. */
async function seed(store: VectorStore): Promise<string> {
  await createCollection(store, 'source', {});
  progress.start('Made-up memories into the source', count);
  const digest = createDigestSum();
  let batch = [];
  for (const point of memories({ count, dimensions, users: USERS })) {
    digest.add(digestOf(point.id, point.payload));
    batch.push(point);
    if (batch.length < BATCH) continue;
    await store.upsert('source', batch, 'upsert');
    progress.step(batch.length);
    batch = [];
  }
  if (batch.length > 0) await store.upsert('source', batch, 'upsert');
  return digest.text();
}

async function copied(store: VectorStore, way: Way, url: string, extra: object) {
  await createCollection(store, way, extra);
  const measured = await measureWorker(way, url, 'source', way, folder);
  await store.deleteCollection(way);
  progress.step();
  return measured;
}

async function createCollection(store: VectorStore, name: string, extra: object): Promise<void> {
  const vectors = { size: dimensions, distance: 'Cosine' } as const;
  await store.createCollection(name, { vectors, ...extra });
}

async function verify(store: VectorStore, target: string): Promise<ReconcileReport> {
  const { report } = await reconcile(
    {
      ...(await copySettings(store, { from: 'source', to: target })),
      mode: 'repair',
    },
    { saveCheckpoint: async () => undefined },
  );
  progress.step();
  return report;
}

function fidelityBars(report: ReconcileReport, expected: string): Bar[] {
  const { from, to, compared, inserted, replaced, deleted } = report;
  const faults = faultsIn(report);
  const repaired = inserted + replaced + deleted;
  return [
    holds('digest of the source is that of what was made', from.digest === expected, from.digest),
    holds('digest of the target is that of the source', to.digest === expected, to.digest),
    holds(
      `comparison: ${faults.join(', ') || 'equal'}`,
      faults.length + repaired === 0 && compared === count,
      `${compared.toLocaleString('en')} vectors compared`,
    ),
  ];
}

function costBars(runs: { bare: Measured[]; plain: Measured[]; filled: Measured }): Bar[] {
  const { bare, plain, filled } = runs;
  const [bareMs, plainMs] = [bare, plain].map((run) => median(run.map((one) => one.milliseconds)));
  const ratio = (bareMs ?? 0) / (plainMs ?? 1);
  const peak = Math.max(...[...plain, filled].map(({ peakMegabytes }) => peakMegabytes));
  const perSecond = (milliseconds = 1) => Math.round(count / (milliseconds / 1_000));
  const measured = (rule: string, value: number): Bar => ({
    rule,
    figure: `${value.toLocaleString('en')} points/s`,
    limit: '',
    met: undefined,
  });
  return [
    atMost('resident memory of the copy', peak, MOST_MEGABYTES, ' MB'),
    atLeast('speed of the copy over that of the bare loop', ratio, LEAST_SPEED, 'x'),
    measured('bare loop, which changes payloads', perSecond(bareMs)),
    measured('copy', perSecond(plainMs)),
    measured('copy with keyword vectors made by the store', perSecond(filled.milliseconds)),
  ];
}

function holds(rule: string, met: boolean, figure: string): Bar {
  return { rule, figure: figure.length > 24 ? `${figure.slice(0, 16)}…` : figure, limit: '', met };
}
