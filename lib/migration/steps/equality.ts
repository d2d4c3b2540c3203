// Compares one collection with what both had when they were last equal: its changes since, or the points that it lacks.
import { createBaseReader, summarizeBase } from '../base.ts';
import { holdSame, isUnchanged } from '../fate.ts';
import { memberOf } from '../json/memory-payload.ts';
import { userOf } from '../points.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import { countVerified, type Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import { readPages } from '../scan.ts';
import type { Services } from '../services.ts';
import { scanCollection } from './recorded-counts.ts';

/** Counts the points that the collection has less than were verified. */
export async function countMissing(
  { services: { vectors }, run }: Pick<StepRequest, 'services' | 'run'>,
  collection: string,
) {
  const points = countVerified(run);
  const removes = Math.max(0, points - (await vectors.count(collection)));
  return { points, removes, changes: 0 };
}

/** Counts the changes, without the test user's memories. */
export async function countChangesSince(
  { services, run }: Pick<StepRequest, 'services' | 'run'>,
  collection: string,
) {
  const { artifacts, vectors: store } = services;
  const findVersion = createBaseReader({ artifacts, before: run.base });
  const points = run.base ? (await summarizeBase(artifacts, run.base)).points : 0;
  const found = { adds: 0, changes: 0, removes: points, points };
  for await (const { points: page } of readPages(
    { store, collection },
    { limit: 512, vector: false },
  )) {
    for (const point of page) {
      if (userOf(point.payload) === testUserOf(run.runId)) continue;
      const base = await findVersion(point.id);
      if (typeof base === 'string') found.adds += 1;
      else found.removes -= 1;
      if (typeof base !== 'string' && !isUnchanged(point, base)) found.changes += 1;
    }
  }
  return found;
}

/** True if the collection still equals the last common version. */
export async function isAsBase(services: Services, run: Run, collection: string): Promise<boolean> {
  if (!run.base) return false;
  const { contents } = await scanCollection(services, run, collection);
  return holdSame(contents, await summarizeBase(services.artifacts, run.base));
}

/** Compares the times that mem0 keeps in the payload. */
export function isLaterChange(was: ScrolledPoint, is: ScrolledPoint): boolean {
  return changedAt(is) > changedAt(was);
}

/** Time of the last change from mem0's payload; 0 if it has none */
export function changedAt({ payload }: ScrolledPoint): number {
  const at = memberOf(payload, 'updated_at') ?? memberOf(payload, 'created_at');
  const time = Date.parse(String(at));
  return Number.isNaN(time) ? 0 : time;
}
