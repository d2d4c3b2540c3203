// Users and other writers of a play, and the memories that must exist: the last acknowledged write to each. The steps of the
// migration never see that record.
import { hash } from 'node:crypto';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type { ScrolledPoint } from '../../../lib/migration/ports/vector-store.ts';
import { startNewVersion } from '../../../sandbox/memory-backend/new-version.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { emptyCollection } from './collections.ts';
import type { Migration } from './migration.ts';

const USER = 'user-1';

export type Change = 'create' | 'change' | 'delete';

/**
 * `user`: through the deployed version, while writes are open. `late`: begun before the freeze, arrives during it. `early`: reaches
 * the version that is being deployed, before it opened. `forgotten`: a program that still uses a collection that users left.
 */
export type Writer = 'user' | 'late' | 'early' | 'forgotten';

export interface Write {
  readonly writer: Writer;
  readonly change: Change;
}

const DAMAGES = ['emptied', 'overwritten', 'deleted'] as const;

export type Damage = (typeof DAMAGES)[number];

function isDamage(writer: Writer | Damage): writer is Damage {
  return DAMAGES.some((damage) => damage === writer);
}

/** The version and collection that users are on after the operator's actions. */
export interface Service {
  worksOn: string;
  /** The collection on which writes were open last. */
  wasOpenOn: string;
  /** The new version is deployed. */
  isOnNew: boolean;
  /** Users have worked with the new version. */
  wasOpenOnNew: boolean;
  isFrozen: boolean;
  isDeploying: boolean;
}

interface Memory {
  /** Null once it was deleted. */
  readonly text: string | null;
  /**
   * The last writer. A write past a freeze may be kept in a report instead of in the collection. For damage to the active
   * collection: users miss the memory, but another collection still has it.
   */
  readonly writer: Writer | Damage;
}

export type PlayUsers = Awaited<ReturnType<typeof createPlayUsers>>;

/** @param live collection of the new version; in place, that of the old version, too */
export async function createPlayUsers(
  migration: Migration,
  {
    service,
    live,
    diary,
  }: { readonly service: Service; readonly live: string; readonly diary: string[] },
) {
  const { vectors } = migration.services;
  const expected = new Map<string, Memory>();
  /** Collections whose memories were overwritten while users were on them */
  const overwritten = new Set<string>();
  let textCount = 0;
  /** Newest first */
  const createdIds: string[] = [];
  for (const [id, text] of await read(SOURCE)) expected.set(id, { text, writer: 'user' });

  async function scroll(collection: string): Promise<readonly ScrolledPoint[]> {
    if (!(await vectors.collectionExists(collection))) return [];
    const { points } = await vectors.scroll(collection, { limit: 1_000 });
    return points.filter(({ payload }) => !payload.includes('"__migration'));
  }

  /** Reads the ids and texts of users' memories. */
  async function read(collection: string): Promise<Map<string, string>> {
    const points = await scroll(collection);
    return new Map(
      points.map(({ id, payload }) => [String(JSON.parse(id)), String(JSON.parse(payload).data)]),
    );
  }

  function findCollection({ writer }: Write): string | undefined {
    const { isFrozen, isDeploying, worksOn, wasOpenOn, isOnNew, wasOpenOnNew } = service;
    if (writer === 'user') return isFrozen ? undefined : worksOn;
    if (writer === 'late') return isFrozen ? wasOpenOn : undefined;
    if (writer === 'early') return isFrozen && isDeploying ? worksOn : undefined;
    // In place, users never leave the collection.
    if (live === SOURCE) return undefined;
    if (isOnNew) return SOURCE;
    return wasOpenOnNew ? live : undefined;
  }

  /** Makes a write, which is acknowledged once this returns. A write that its writer cannot make now is skipped. */
  async function write(write: Write): Promise<void> {
    const collection = findCollection(write);
    if (collection === undefined || !(await vectors.collectionExists(collection))) return;
    const [id, text] = await apply(write.change, collection);
    if (id === undefined) return;
    diary.push(`${write.writer} ${write.change} ${id} in ${collection}`);
    // An automatic rollback copies no changes from an overwritten collection: it cannot tell users' changes from the damage.
    const mayNotBeCopied = overwritten.has(collection) && write.change !== 'create';
    expected.set(id, { text, writer: mayNotBeCopied ? 'forgotten' : write.writer });
  }

  async function apply(
    change: Change,
    collection: string,
  ): Promise<[id: string | undefined, text: string | null]> {
    textCount += 1;
    const text = `Memory ${textCount} of the play`;
    if (change === 'create') {
      const settings = { store: vectors, collection, dimensions: 4, now: migration.clock };
      const isNewVersion = live === SOURCE ? service.isOnNew : collection === live;
      const start = isNewVersion ? startNewVersion : startOldVersion;
      const [id] = await (await start(settings)).add(USER, text);
      if (id !== undefined) createdIds.unshift(id);
      return [id, text];
    }
    const point = await chooseMemory(change, collection);
    if (!point) return [undefined, null];
    const id = String(JSON.parse(point.id));
    if (change === 'delete') {
      await vectors.deletePoints(collection, { ids: [point.id] });
      return [id, null];
    }
    const updated_at = migration.clock().toISOString();
    await overwrite(collection, point, { data: text, hash: hash('md5', text), updated_at });
    return [id, text];
  }

  /**
   * Selects the memory to write to. A change takes the user's first memory, so that two changes collide. A deletion takes the
   * newest memory that the play created, or else the user's last memory, which a walk reads on a later page.
   */
  async function chooseMemory(
    change: Change,
    collection: string,
  ): Promise<ScrolledPoint | undefined> {
    const points = await scroll(collection);
    const pointsOfUser = points.filter(({ payload }) => JSON.parse(payload).user_id === USER);
    const newest = createdIds.flatMap(
      (id) => pointsOfUser.find((point) => JSON.parse(point.id) === id) ?? [],
    );
    return change === 'delete' ? (newest[0] ?? pointsOfUser.at(-1)) : pointsOfUser[0];
  }

  async function overwrite(
    collection: string,
    point: ScrolledPoint,
    changes: object,
  ): Promise<void> {
    const { id, vector = asJsonText('[]') } = point;
    const payload = JSON.stringify({ ...JSON.parse(point.payload), ...changes });
    const changed = { id, vector, payload: asJsonText<Record<string, unknown>>(payload) };
    await vectors.upsert(collection, [changed], 'upsert');
  }

  /**
   * Damages a collection. Memories that only this collection had are no longer expected, because no migration could save them.
   * @param undamaged the collection that remains
   */
  async function damage(collection: string, undamaged: string, kind: Damage): Promise<void> {
    if (!(await vectors.collectionExists(collection))) return;
    const remaining = await read(undamaged);
    for (const [id, { text }] of expected) {
      if ((remaining.get(id) ?? null) !== text) expected.delete(id);
      else if (collection === service.wasOpenOn) expected.set(id, { text, writer: kind });
    }
    diary.push(`${collection} is ${kind}`);
    if (kind === 'emptied') await emptyCollection(migration, collection);
    if (kind === 'deleted') await vectors.deleteCollection(collection);
    if (kind !== 'overwritten') return;
    if (collection === service.wasOpenOn) overwritten.add(collection);
    for (const point of await scroll(collection)) {
      await overwrite(collection, point, { data: `Overwritten ${point.id}` });
    }
  }

  /** Records that the operator leaves behind the writes that the collection lacks; another collection keeps them. */
  async function leaveBehind(collection: string): Promise<void> {
    const memories = await read(collection);
    for (const [id, { text }] of expected) {
      if ((memories.get(id) ?? null) !== text) expected.set(id, { text, writer: 'forgotten' });
    }
  }

  /** Records that the operator takes what is missing from the active collection for users' deletions and changes. */
  function acceptDeletions(): void {
    for (const [id, { writer }] of expected) if (isDamage(writer)) expected.delete(id);
  }

  /** Checks, when writes open, that the collection has everything that users wrote. @returns the faults */
  async function checkServed(collection: string): Promise<string[]> {
    const memories = await read(collection);
    return [...expected]
      .filter(([id, { text, writer }]) => writer === 'user' && (memories.get(id) ?? null) !== text)
      .map(
        ([id, { text }]) =>
          `served from ${collection}: ${id} is "${memories.get(id)}", not "${text}"`,
      );
  }

  /**
   * Checks at the end of a play that no memory is lost or left behind, and that no deleted memory has come back.
   * @param isOver true once the run is closed, and overwritten memories can no longer be repaired from the old collection
   * @returns the faults
   */
  async function checkKept(isOver: boolean): Promise<string[]> {
    const active = await read(service.worksOn);
    const collections = await Promise.all((await vectors.listCollections()).map(read));
    // Only reports of conflicts count as kept: they hold both texts of a memory that was changed on both sides. Users do not
    // find their writes in a backup.
    const conflicts = [...migration.artifacts.image()].filter(([key]) =>
      key.includes('/conflicts-'),
    );
    const reports = conflicts.map(([, { content }]) => String(content));
    return [...expected].flatMap(([id, { text, writer }]) => {
      if ((active.get(id) ?? null) === text) return [];
      if (text === null) return writer === 'user' ? `came back: ${id} "${active.get(id)}"` : [];
      if (reports.some((report) => report.includes(text)) || (writer === 'overwritten' && isOver))
        return [];
      if (!collections.some((memories) => memories.get(id) === text))
        return `lost: ${id} "${text}"`;
      // The next switch carries over what a forgotten program writes.
      if (writer === 'forgotten' || isDamage(writer)) return [];
      return `left behind: ${id} "${text}" by ${writer}`;
    });
  }

  return { write, damage, leaveBehind, acceptDeletions, checkServed, checkKept };
}
