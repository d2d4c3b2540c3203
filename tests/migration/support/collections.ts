// Reads the contents of collections and runs, so that a test can compare them, and changes collections.

import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type { Evidence } from '../../../lib/migration/phases.ts';
import { readJson } from '../../../lib/migration/ports/artifacts.ts';
import type { ScrolledPoint } from '../../../lib/migration/ports/vector-store.ts';
import { readManifest } from '../../../lib/migration/runs/reports.ts';
import { scan } from '../../../lib/migration/scan.ts';
import { startNewVersion } from '../../../sandbox/memory-backend/new-version.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { type Migration, RUN } from './migration.ts';

/** Layout of the old collection */
export const LAYOUT = { vectors: { size: 8, distance: 'Cosine' } } as const;

/** State that a refusal must leave unchanged: the old memories, the active collection, and the run */
export async function readRunState({ services, runs }: Migration) {
  const { vectors, setting } = services;
  return {
    old: await computeFingerprint(vectors, SOURCE),
    active: await setting.read(),
    phase: (await runs.read(RUN)).phase,
  };
}

/** Starts another instance of the old version on the old collection, besides the version that users call. */
export function startSecondOldVersion({ services, clock }: Migration) {
  const settings = { store: services.vectors, collection: SOURCE, dimensions: 8, now: clock };
  return startOldVersion(settings);
}

export async function writeToOld(migration: Migration, text: string): Promise<void> {
  await (await startSecondOldVersion(migration)).add('user-1', text);
}

export async function writeToNew(
  { services, target, clock }: Migration,
  ...texts: string[]
): Promise<void> {
  const settings = { store: services.vectors, collection: target, dimensions: 8, now: clock };
  const version = await startNewVersion(settings);
  for (const text of texts) await version.add('user-1', text);
}

export async function readFirstPoint(
  { services }: Migration,
  name: string,
): Promise<ScrolledPoint> {
  const { points } = await services.vectors.scroll(name, { limit: 1 });
  const [point] = points;
  if (!point) throw new Error(`${name} has no points`);
  return point;
}

export async function deleteFirstPoint(migration: Migration, name: string): Promise<void> {
  const { id } = await readFirstPoint(migration, name);
  await migration.services.vectors.deletePoints(name, { ids: [id] });
}

/** A change that users or others make to the collections of a migration */
export type MigrationEvent = (migration: Migration) => Promise<unknown>;

export const inSequence =
  (...events: MigrationEvent[]): MigrationEvent =>
  async (migration) => {
    for (const event of events) await event(migration);
  };

export const deleteFromNew: MigrationEvent = (migration) =>
  deleteFirstPoint(migration, migration.target);
export const deleteFromOld: MigrationEvent = (migration) => deleteFirstPoint(migration, SOURCE);
export const deleteOldCollection: MigrationEvent = ({ services }) =>
  services.vectors.deleteCollection(SOURCE);

/** @param count how many points are deleted, starting with the first; all by default */
export async function emptyCollection(
  { services: { vectors }, target }: Migration,
  name = target,
  count = 999,
): Promise<void> {
  const { points } = await vectors.scroll(name, { limit: count, vector: false });
  await vectors.deletePoints(name, { ids: points.map(({ id }) => id) });
}

/** Changes the text of the first point; the number of points and their users stay the same. */
export async function changeFirstPoint(migration: Migration, name: string): Promise<void> {
  await rewriteFirst(migration, name, (text) => text.replace('"data":"', '"data":"not '));
}

/** Changes the text of the first point as a version of the backend does, with a new time of change. */
export async function changeAsUser(
  migration: Migration,
  name: string,
  data: string,
): Promise<void> {
  const change = { data, updated_at: '2100-01-01T00:00:00Z' };
  await rewriteFirst(migration, name, (text) => JSON.stringify({ ...JSON.parse(text), ...change }));
}

async function rewriteFirst(
  migration: Migration,
  name: string,
  rewrite: (payload: string) => string,
): Promise<void> {
  const { id, vector = asJsonText('[]'), payload } = await readFirstPoint(migration, name);
  const changed = asJsonText<Record<string, unknown>>(rewrite(payload));
  await migration.services.vectors.upsert(name, [{ id, vector, payload: changed }], 'upsert');
}

/** Results of a step: the figures in the record, and the stored report */
export async function readEvidence({ runs, services }: Migration, kind: Evidence) {
  const reference = (await runs.read(RUN)).evidence[kind];
  if (!reference) throw new Error(`The run has no ${kind}`);
  return {
    ...reference,
    report: await readJson(services.artifacts, reference.artifact, reference.digest),
  };
}

export async function readStoredManifest({ services, runs }: Migration) {
  return await readManifest(services, await runs.read(RUN));
}

export async function computeFingerprint(store: Pick<VectorStore, 'scroll'>, collection: string) {
  const { digest, points } = (await scan({ store, collection })).contents;
  return { digest, points };
}
