// What the fears of a migration are provoked with, and what must still hold when one of them has come true.
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type { ScrolledPoint } from '../../../lib/migration/ports/vector-store.ts';
import { startOldVersion } from '../../../local/sandbox/memory-backend/old-version.ts';
import { SOURCE } from '../../../local/sandbox/world.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type Migration, RUN } from './migration.ts';

/** What a refusal must leave as it was: the old memories, whom users work on, and the run. */
export async function standingOf({ services, runs }: Migration) {
  const { vectors, setting } = services;
  return {
    old: await fingerprintOf(vectors, SOURCE),
    active: await setting.read(),
    phase: (await runs.read(RUN)).phase,
  };
}

export async function writeToOld({ services, clock }: Migration, text: string): Promise<void> {
  const settings = { store: services.vectors, collection: SOURCE, dimensions: 8, now: clock };
  await (await startOldVersion(settings)).add('user-1', text);
}

export async function firstPoint({ services }: Migration, name: string): Promise<ScrolledPoint> {
  const { points } = await services.vectors.scroll(name, { limit: 1 });
  const [point] = points;
  if (!point) throw new Error(`Nothing in ${name}`);
  return point;
}

export async function deleteFirst(migration: Migration, name: string): Promise<void> {
  const { id } = await firstPoint(migration, name);
  await migration.services.vectors.deletePoints(name, { ids: [id] });
}

/** The collection keeps as many points of the same users; one holds something else. */
export async function changeFirst(migration: Migration, name: string): Promise<void> {
  const { id, vector, payload } = await firstPoint(migration, name);
  const changed = asJsonText<Record<string, unknown>>(payload.replace('"data":"', '"data":"not '));
  const point = { id, vector: vector ?? asJsonText('[]'), payload: changed };
  await migration.services.vectors.upsert(name, [point], 'upsert');
}
