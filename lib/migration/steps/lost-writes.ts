// What users would lose by a rollback to a restored snapshot: everything that other collections hold and it does not, or
// holds otherwise, and what users have deleted. Exported, one JSON line each, and replayed to a collection later.
import * as v from 'valibot';
import { scanJson } from '../json/json-scanner.ts';
import { asJsonText } from '../json/json-text.ts';
import { copySettings, createPointWriter } from '../point-writer.ts';
import { samePayload, userOf } from '../points.ts';
import { batches, splitLines } from '../ports/artifacts.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { pairedPoints, pointsById } from '../reconcile.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { compareCounts, scanCollection } from './recorded-counts.ts';

const PAGE = 256;

/** How many writes, deletions among them, and the artifact that holds them; none without any. */
export const lossSchema = v.object({ lost: v.number(), exportedTo: v.optional(v.string()) });

export type Loss = v.InferOutput<typeof lossSchema>;

interface LostWrite {
  readonly id: PointId;
  /** As it is now; undefined when it was deleted. */
  readonly point: ScrolledPoint | undefined;
}

/** By the recorded counts alone: before the snapshot is restored, a payload that has changed cannot be seen. */
export async function countLeastLost(services: Services, run: Run): Promise<number> {
  const live = await scanCollection(services, run, liveCollectionOf(run));
  return (await compareCounts(services, run, live)).points;
}

export async function countLostWrites(services: Services, run: Run, old: string): Promise<number> {
  let lost = 0;
  for await (const _ of lostWrites(services, run, old)) lost += 1;
  return lost;
}

/** One JSON line for each, in the store's own text. */
export async function exportLostWrites(
  services: Services,
  run: Run,
  { old, key }: { readonly old: string; readonly key: string },
): Promise<Loss> {
  let lost = 0;

  async function* lines() {
    for await (const write of lostWrites(services, run, old)) {
      lost += 1;
      yield lineOf(write);
    }
  }

  await services.artifacts.put(key, lines());
  if (lost > 0) return { lost, exportedTo: key };
  await services.artifacts.delete(key);
  return { lost };
}

function lineOf({ id, point }: LostWrite): Uint8Array {
  const line = point
    ? `{"id":${id},"vector":${point.vector ?? 'null'},"payload":${point.payload}}`
    : `{"id":${id},"deleted":true}`;
  return Buffer.from(`${line}\n`);
}

async function* lostWrites(services: Services, run: Run, old: string): AsyncGenerator<LostWrite> {
  const { openedAt, plan } = run;
  const live = liveCollectionOf(run);
  // Before users were let in no version may have been pointed at it: an upload may have died half-way there.
  if (openedAt !== undefined || (await services.setting.read()) === live) {
    // What is missing was deleted by a user only once users could: before that it is the copy that is damaged.
    const deletes = openedAt !== undefined;
    yield* writesTo(services, run, { collection: live, old, deletes });
  }
  if (old === plan.sourceCollection) return;
  yield* writesTo(services, run, { collection: plan.sourceCollection, old, deletes: false });
}

async function* writesTo(
  { vectors: store }: Services,
  { runId }: Run,
  compared: { readonly collection: string; readonly old: string; readonly deletes: boolean },
): AsyncGenerator<LostWrite> {
  const { collection, old, deletes } = compared;
  if (!(await store.collectionExists(collection))) return;
  const request = { limit: PAGE };
  const pairs = pairedPoints(
    { store, collection: old, request: { ...request, vector: false } },
    { store, collection, request },
  );
  for await (const { id, from, to } of pairs) {
    if (to && userOf(to.payload) === testUserOf(runId)) continue;
    const isSame = from && to && samePayload(from.payload, to.payload);
    if (to ? !isSame : deletes) yield { id, point: to };
  }
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
) {
  const collection = await setting.read();
  const settings = await copySettings(store, { from: collection, to: collection });
  const writer = createPointWriter(settings, async () => {});
  /** newer: left alone, for they were changed again since the rollback. */
  const report = { collection, written: 0, deleted: 0, newer: 0 };

  for await (const lines of batches(splitLines(artifacts.get(key)), BATCH)) {
    const batch = lines.map(readLine);
    const present = await pointsById(settings.to, batch, { vector: false });
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
  return report;
}

function readLine(line: string): LostWrite {
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

/** By the time that mem0 notes in the payload. */
function isNewer(present: ScrolledPoint | undefined, exported: ScrolledPoint): boolean {
  return present !== undefined && changedAt(present) > changedAt(exported);
}

function changedAt({ payload }: ScrolledPoint): number {
  const { updated_at, created_at } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
  const time = Date.parse(String(updated_at ?? created_at));
  return Number.isNaN(time) ? 0 : time;
}
