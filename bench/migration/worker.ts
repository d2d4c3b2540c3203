// Copies a collection once, in a separate process, so that the memory of the copy can be measured. Prints one line of JSON with
// the duration and the peak resident memory.
// Usage: node worker.ts <method> <url> <source> <target> <folder>
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createQdrant, type VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { chooseCopySettings } from '../../lib/migration/point-writer.ts';
import type { SnapshotDescription } from '../../lib/migration/ports/vector-store.ts';
import { type ReconcileCheckpoint, reconcile } from '../../lib/migration/reconcile.ts';
import { openWalk } from '../../lib/migration/runs/journal.ts';
import { copyByBareLoop } from './bare-loop.ts';

export interface Measured {
  readonly milliseconds: number;
  readonly peakMegabytes: number;
}

const METHODS = { copy, bare: copyByBareLoop, snapshot: copyBySnapshot };

export type CopyMethod = keyof typeof METHODS;

interface CopyOptions {
  readonly url: string;
  readonly source: string;
  readonly target: string;
  readonly folder: string;
}

const [method = '', url = '', source = '', target = '', folder = ''] = process.argv.slice(2);
const copyOnce = METHODS[method as CopyMethod];
const milliseconds = await copyOnce({ url, source, target, folder });
const measured: Measured = { milliseconds, peakMegabytes: await measurePeakMegabytes() };
console.log(JSON.stringify(measured));

// Copies like a migration run, with checkpoints that are synced to disk. The duration does not include the preparation.
async function copy({ url, source, target, folder }: CopyOptions): Promise<number> {
  const store = createQdrant({ url });
  const settings = await chooseCopySettings(store, { from: source, to: target });
  await using file = await open(join(folder, `${target}.checkpoint`), 'w');
  const saveCheckpoint = async (checkpoint: ReconcileCheckpoint) => {
    await file.write(`${JSON.stringify(checkpoint)}\n`, 0);
    await file.datasync();
  };
  const startedAt = performance.now();
  const walk = openWalk({ hasTime: () => true }, { cursor: undefined, saveCursor: saveCheckpoint });
  await reconcile({ ...settings, mode: 'fill' }, walk);
  return performance.now() - startedAt;
}

// Downloads a snapshot of the source, and uploads it as the target. The store checks the upload against the snapshot's digest.
async function copyBySnapshot({ url, source, target }: CopyOptions): Promise<number> {
  const store = createQdrant({ url });
  const startedAt = performance.now();
  await store.startSnapshot(source);
  const { name, size, checksum } = await waitUntilListed(store, source);
  const { bytes } = await store.downloadSnapshot(source, name);
  const points = await store.count(source);
  await store.uploadSnapshot(target, { fileName: name, size, checksum: checksum ?? '', bytes });
  await waitUntilRestored(store, target, points);
  return performance.now() - startedAt;
}

/** Waits until the collection is restored. The store responds to the upload before it has restored the collection. */
async function waitUntilRestored(store: VectorStore, name: string, points: number): Promise<void> {
  for (let polls = 0; polls < 300; polls += 1) {
    if ((await store.countRestoredPoints(name)) === points) return;
    await pause(200);
  }
}

async function waitUntilListed(
  store: VectorStore,
  collection: string,
): Promise<SnapshotDescription> {
  for (;;) {
    const [snapshot] = await store.listSnapshots(collection);
    if (snapshot) return snapshot;
    await pause(200);
  }
}

// Prefers the kernel's VmHWM, which counts only this program. The peak in resourceUsage counts from the fork, and so includes
// the memory of the parent process.
async function measurePeakMegabytes(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024;
}
