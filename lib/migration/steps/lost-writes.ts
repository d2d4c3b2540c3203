// What users would lose by going back: whatever the new collection has that the old one has not, or has otherwise.

import { pairedPoints } from '../copy/paired-points.ts';
import { userIdOf } from '../json/memory-payload.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import { samePayload } from '../proof/point-digest.ts';
import type { Run } from '../runs/run.ts';
import type { Services } from '../services.ts';

const PAGE = 256;

/** Writes, deletions among them, that were made to the new version. */
export async function countLostWrites(services: Services, run: Run, old: string): Promise<number> {
  let lost = 0;
  for await (const _ of lostWrites(services, run, old)) lost += 1;
  return lost;
}

/**
 * Exports them before anything else is done: one JSON line for each, in the store's own text.
 * @returns how many
 */
export async function exportLostWrites(
  services: Services,
  run: Run,
  { old, key }: { readonly old: string; readonly key: string },
): Promise<number> {
  let exported = 0;

  async function* counted() {
    for await (const line of lines(services, run, old)) {
      yield line;
      exported += 1;
    }
  }

  await services.artifacts.put(key, counted());
  return exported;
}

async function* lines(services: Services, run: Run, old: string): AsyncIterable<Uint8Array> {
  for await (const { id, point } of lostWrites(services, run, old)) {
    const line = point
      ? `{"id":${id},"vector":${point.vector ?? 'null'},"payload":${point.payload}}`
      : `{"id":${id},"deleted":true}`;
    yield Buffer.from(`${line}\n`);
  }
}

async function* lostWrites({ vectors: store }: Services, run: Run, old: string) {
  const { targetCollection } = run.plan;
  if (!(await store.collectionExists(targetCollection))) return;
  const request = { limit: PAGE };
  const pairs = pairedPoints(
    { store, collection: old, request },
    { store, collection: targetCollection, request },
  );
  const own = JSON.stringify(testUserOf(run.runId));
  for await (const { id, source, target } of pairs) {
    if (target && userIdOf(target.payload) === own) continue;
    if (isLost(source, target, run)) yield { id, point: target };
  }
}

// What is missing was deleted by a user only once users could: before that it is the copy that is damaged.
function isLost(
  source: ScrolledPoint | undefined,
  target: ScrolledPoint | undefined,
  { openedAt }: Run,
): boolean {
  if (!target) return openedAt !== undefined;
  if (!source) return true;
  return !samePayload(source.payload, target.payload);
}
