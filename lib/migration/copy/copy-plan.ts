// The dry run of a copy: how it would go, whose memories it would take, how long it may last. Writes nothing.

import type { CollectionInfo, VectorStore } from '../ports/vector-store.ts';
import { countUsers, type UserCounts } from '../proof/user-counts.ts';
import type { CollectionPlace } from './collection-pages.ts';
import type { CopySettings } from './copy.ts';
import { keywordFillingOf } from './keyword-slot.ts';
import type { InsertMode } from './point-writer.ts';

export interface CopyPlan {
  readonly settings: CopySettings;
  readonly users: UserCounts;
  readonly estimate: CopyEstimate;
}

export interface CopyEstimate {
  /** Bytes of JSON that go out and in again. */
  readonly bytes: number;
  readonly milliseconds: number;
}

export interface PlannedCopy {
  readonly store: VectorStore;
  readonly source: string;
  readonly target: string;
  readonly now: () => number;
}

/** Of a copy; a store that gives or takes less at once is in the way. */
export const PAGE_SIZE = 256;
const LARGEST_BODY = 16 * 1024 * 1024;

// A write takes about as long as the read it runs beside; indexing behind it adds some.
const WRITES_PER_READ = 1.5;

export async function planCopy(planned: PlannedCopy): Promise<CopyPlan> {
  const { settings, sample } = await chooseSettings(planned);
  const users = await countUsers(settings.source, settings.pageSize);
  return {
    settings,
    users,
    estimate: {
      bytes: Math.round(users.total * sample.bytesPerPoint),
      milliseconds: Math.round(users.total * sample.millisecondsPerPoint * WRITES_PER_READ),
    },
  };
}

/** As the store's version, its limits and the size of points suggest; counts nothing. */
export async function copySettings(planned: PlannedCopy): Promise<CopySettings> {
  return (await chooseSettings(planned)).settings;
}

async function chooseSettings(planned: PlannedCopy) {
  const { store } = planned;
  const source = { store, collection: planned.source };
  const target = { store, collection: planned.target };
  const allowed = await allowedPageSize(store, [planned.source, planned.target]);
  const sample = await sampleOf(source, allowed, planned.now);
  const pageSize = Math.max(1, Math.min(allowed, Math.floor(LARGEST_BODY / sample.bytesPerPoint)));
  const insertMode = insertModeOf(await store.version());
  const keywords = await keywordFillingOf(store, planned.target);
  const settings: CopySettings = { source, target, pageSize, insertMode, keywords };
  return { settings, sample };
}

/** `insert_only` came with 1.17; an older server would ignore it and overwrite. */
export function insertModeOf(version: string): InsertMode {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 17) ? 'by-store' : 'ask-first';
}

async function sampleOf(place: CollectionPlace, limit: number, now: () => number) {
  const begun = now();
  const { points } = await place.store.scroll(place.collection, { limit });
  const took = now() - begun;
  const bytes = points.reduce(
    (sum, { payload, vector = '' }) => sum + Buffer.byteLength(payload) + vector.length,
    0,
  );
  const count = Math.max(1, points.length);
  return { bytesPerPoint: Math.max(1, bytes / count), millisecondsPerPoint: took / count };
}

// Strict mode caps scrolls and batches; what both collections allow is what is asked for.
async function allowedPageSize(store: VectorStore, collections: readonly string[]) {
  const infos = await Promise.all(collections.map((name) => store.collectionInfo(name)));
  return Math.min(PAGE_SIZE, ...infos.flatMap((info) => (info ? limitsOf(info) : [])));
}

function limitsOf({ config }: CollectionInfo): number[] {
  const strict = config.strict_mode_config;
  if (!strict?.enabled) return [];
  return [strict.max_query_limit, strict.upsert_max_batchsize].filter(
    (limit) => typeof limit === 'number',
  );
}
