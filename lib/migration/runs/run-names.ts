// Names that a run makes for itself: they carry its id, and nothing else is ever removed.
import type { Filter } from '../ports/vector-store.ts';
import type { Run } from './run.ts';

/** Collection of the new version: the setting names it from the switch on. */
export function liveCollectionOf({ plan }: Pick<Run, 'plan'>): string {
  return plan.inPlace ? plan.sourceCollection : (plan.uploadAs ?? plan.targetCollection);
}

/** Collection that is built and filled, and the companion that mem0 creates; in place, the slot is taken from it. */
export function builtCollectionsOf(run: Pick<Run, 'plan'>): [string, string] {
  return withCompanion(run.plan.targetCollection);
}

/** The same of what the new version works on. */
export function liveCollectionsOf(run: Pick<Run, 'plan'>): [string, string] {
  return withCompanion(liveCollectionOf(run));
}

/** And the entities of its memories, by mem0's own rule for the name. */
export function withCompanion(collection: string): [string, string] {
  return [collection, `${collection}_entities`];
}

/** Collection for the test restore of a snapshot */
export function restoreTestCollectionOf({ runId }: Pick<Run, 'runId'>): string {
  return `restore_drill_${runId}`;
}

/** Collection for the real restore, if the old collection was deleted in the meantime */
export function restoredCollectionOf({ runId, plan }: Pick<Run, 'runId' | 'plan'>): string {
  return `${plan.sourceCollection}_restored_${runId}`;
}

/** All that the run has made and may remove, unless users work on it. */
export function collectionsOf(run: Pick<Run, 'runId' | 'plan' | 'hasUploaded'>): string[] {
  const named = [...builtCollectionsOf(run), restoreTestCollectionOf(run)];
  const uploaded = run.hasUploaded ? liveCollectionsOf(run) : [];
  return [...named.filter((name) => name.includes(run.runId)), ...uploaded];
}

/** All names that the run will give to something: they have to be free before, and different. */
export function namesOf(run: Pick<Run, 'runId' | 'plan'>): string[] {
  const all = { ...run, hasUploaded: run.plan.uploadAs !== undefined };
  return [...collectionsOf(all), restoredCollectionOf(run)];
}

/** Keys of snapshots and graph dumps begin so; reports, which prove what happened, do not. */
export function backupsOf({ runId }: Pick<Run, 'runId'>): string[] {
  return ['snapshot', 'graph', 'conflicts'].map((kind) => `${runId}/${kind}-`);
}

/** Keys of what both collections had when they were equal. */
export function basesOf({ runId }: Pick<Run, 'runId'>): string {
  return `${runId}/base-`;
}

export function ofTestUser({ runId }: Run): Filter {
  return { must: [{ key: 'user_id', match: { value: testUserOf(runId) } }] };
}

/** A user that no person is, for whom the run writes; the key it is given has to map to that user. */
export function testUserOf(runId: string): string {
  return `${TEST_USER}${runId}`;
}

/** A test user belongs to no person: messages may show the name. */
export function isTestUser(userId: string): boolean {
  return userId.startsWith(TEST_USER);
}

const TEST_USER = '__migration_test_';
