// Replays the writes that a rollback has lost: the lines of its export, onto the collection that the backend works on.
import { scanJson } from './json/json-scanner.ts';
import { asJsonText } from './json/json-text.ts';
import { splitLines } from './json/split-lines.ts';
import { copySettings, createPointWriter } from './point-writer.ts';
import type { PointId, ScrolledPoint, VectorStore } from './ports/vector-store.ts';
import type { Services } from './services.ts';

export interface ReplayReport {
  readonly collection: string;
  /** Memories that were created or changed. */
  readonly written: number;
  readonly deleted: number;
  /** Left alone, for they were changed again since the rollback. */
  readonly newer: number;
}

interface Line {
  readonly id: PointId;
  /** Undefined for a deletion. */
  readonly point: ScrolledPoint | undefined;
}

const BATCH = 100;

/**
 * Once more does no harm.
 * @param execute without it, it only counts
 * @throws Refusal when there is no such export, or the store refuses
 */
export async function replayWrites(
  { vectors: store, artifacts, setting }: Pick<Services, 'vectors' | 'artifacts' | 'setting'>,
  { key, execute }: { readonly key: string; readonly execute: boolean },
): Promise<ReplayReport> {
  const collection = await setting.read();
  const place = { store, collection };
  const settings = await copySettings(store, { from: collection, to: collection });
  const renew = async () => {};
  const writer = createPointWriter({ ...settings, from: place, to: place, renew });
  const report = { collection, written: 0, deleted: 0, newer: 0 };

  async function replay(batch: readonly Line[]): Promise<void> {
    const present = await pointsById(place, batch);
    const points = batch.flatMap(({ point }) => point ?? []);
    const older = points.filter((point) => !isNewer(present.get(point.id), point));
    const deletions = batch.flatMap(({ id, point }) => (!point && present.has(id) ? [id] : []));
    if (execute) {
      await writer.replace(older);
      await writer.remove(deletions);
    }
    report.written += older.length;
    report.newer += points.length - older.length;
    report.deleted += deletions.length;
  }

  let batch: Line[] = [];
  for await (const line of splitLines(artifacts.get(key))) {
    batch.push(readLine(line));
    if (batch.length < BATCH) continue;
    await replay(batch);
    batch = [];
  }
  if (batch.length > 0) await replay(batch);
  return report;
}

function readLine(line: string): Line {
  const scanner = scanJson(line);
  const texts: Record<string, string> = {};
  for (const member of scanner.members<Record<string, unknown>>()) texts[member] = scanner.text();
  const { id = '', vector, payload } = texts;
  const point = {
    id: asJsonText<number>(id),
    payload: asJsonText<Record<string, unknown>>(payload ?? 'null'),
  };
  if (vector === undefined) return { id: point.id, point: undefined };
  return { id: point.id, point: { ...point, vector: asJsonText<number[]>(vector) } };
}

async function pointsById(
  { store, collection }: { readonly store: VectorStore; readonly collection: string },
  batch: readonly Line[],
): Promise<ReadonlyMap<PointId, ScrolledPoint>> {
  const ids = batch.map(({ id }) => id);
  const points = await store.retrieve(collection, ids, { vector: false });
  return new Map(points.map((point) => [point.id, point]));
}

/** By the time that mem0 notes in the payload. */
function isNewer(present: ScrolledPoint | undefined, exported: ScrolledPoint): boolean {
  return present !== undefined && changedAt(present) > changedAt(exported);
}

function changedAt({ payload }: ScrolledPoint): number {
  const { updated_at, created_at } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
  const time = Date.parse(String(updated_at ?? created_at));
  return Number.isNaN(time) ? 0 : time;
}
