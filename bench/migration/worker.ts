// node worker.ts <method> <url> <source> <target> <folder>: copies once in a separate process, so that its memory can be measured.
// Prints one line of JSON with the duration and the peak resident memory.
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

// Copies like a migration run, with checkpoints synced to disk. Only the copy is timed, not the preparation.
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

// Downloads a snapshot through this process, and uploads it under a new name; the store checks the upload against the
// snapshot's digest.
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

/** Waits for the restored collection, which the store creates after it has responded to the upload. */
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

// Prefers the kernel's VmHWM, which belongs to this program alone: the peak in resourceUsage counts from the fork, and so
// includes the parent's memory.
async function measurePeakMegabytes(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024;
}
