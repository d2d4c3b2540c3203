// Names of a run's own collections and artifacts. All generated names contain the run's id.
import type { Filter } from '../ports/vector-store.ts';
import type { Run } from './run.ts';

/** Collection of the new version: the setting names it from the switch on. */
export function liveCollectionOf({ plan }: Pick<Run, 'plan'>): string {
  return plan.inPlace ? plan.sourceCollection : (plan.uploadAs ?? plan.targetCollection);
}

/** The collection that the run builds, and its companion; in place, the collection only provides the settings of the slot. */
export function builtCollectionsOf(run: Pick<Run, 'plan'>): [string, string] {
  return withCompanion(run.plan.targetCollection);
}

/** Collection of the new version, and its companion */
export function liveCollectionsOf(run: Pick<Run, 'plan'>): [string, string] {
  return withCompanion(liveCollectionOf(run));
}

/** The collection, and its companion for the entities of memories, which mem0 names by this rule */
export function withCompanion(collection: string): [string, string] {
  return [collection, `${collection}_entities`];
}

/** Collection for the test restore of a snapshot */
export function restoreTestCollectionOf({ runId }: Pick<Run, 'runId'>): string {
  return `restore_drill_${runId}`;
}

/** Collection for the real restore, if the old collection is missing or damaged at a rollback */
export function restoredCollectionOf({ runId, plan }: Pick<Run, 'runId' | 'plan'>): string {
  return `${plan.sourceCollection}_restored_${runId}`;
}

/** All collections that the run has made and may remove, unless users work on them */
export function collectionsOf(run: Pick<Run, 'runId' | 'plan' | 'hasUploaded'>): string[] {
  const generatedNames = [...builtCollectionsOf(run), restoreTestCollectionOf(run)];
  const uploaded = run.hasUploaded ? liveCollectionsOf(run) : [];
  return [...generatedNames.filter((name) => name.includes(run.runId)), ...uploaded];
}

/** All names of collections that the run will create: they must be free and different. */
export function collectionNamesOf(run: Pick<Run, 'runId' | 'plan'>): string[] {
  const runWithUpload = { ...run, hasUploaded: run.plan.uploadAs !== undefined };
  return [...collectionsOf(runWithUpload), restoredCollectionOf(run)];
}

/** Key prefixes of backups: snapshots, graph dumps and conflicts. Reports, which prove what happened, are not among them. */
export function backupPrefixesOf({ runId }: Pick<Run, 'runId'>): string[] {
  return ['snapshot', 'graph', 'conflicts'].map((kind) => `${runId}/${kind}-`);
}

/** Key prefix of the artifacts with the last common version of both collections */
export function basePrefixOf({ runId }: Pick<Run, 'runId'>): string {
  return `${runId}/base-`;
}

export function filterTestUser({ runId }: Run): Filter {
  return { must: [{ key: 'user_id', match: { value: testUserOf(runId) } }] };
}

/** A user, but not a person, for whom the run writes test memories; the run's API key must belong to this user. */
export function testUserOf(runId: string): string {
  return `${TEST_USER}${runId}`;
}

/** A test user belongs to no person: messages may show the name. */
export function isTestUser(userId: string): boolean {
  return userId.startsWith(TEST_USER);
}

const TEST_USER = '__migration_test_';
