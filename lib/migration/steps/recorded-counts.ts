// Counts the memories of each user: for the manifest of a backup, in its restored snapshot; for the final check of a migration in
// place, in the frozen collection.
import {
  createDigestSum,
  digestUser,
  hashUser,
  NO_USER,
  nameOwner,
  OWNER_KEYS,
} from '../points.ts';
import type { Filter } from '../ports/vector-store.ts';
import { recoverWith, whenRefusedWith } from '../refusals.ts';
import type { Reference, Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { type Scan, scan } from '../scan.ts';
import type { Services } from '../services.ts';
import { createUserCounts, formatUserCounts } from '../user-counts.ts';

interface Counted extends Pick<Scan, 'counts'> {
  readonly contents: Pick<Scan['contents'], 'points' | 'users' | 'usersDigest'>;
}

/** Stores the counts as an artifact: one line per user, with the user's hash and number of memories. */
export async function storeCounts(context: StepContext, scanned: Counted): Promise<Reference> {
  const { services, run, lease } = context;
  const { points, users, usersDigest } = scanned.contents;
  const key = `${run.runId}/user-counts-${lease.epoch}.txt`;
  const { sha256 } = await services.artifacts.put(key, formatUserCounts(scanned.counts));
  const facts = { points, users, usersDigest };
  return { artifact: key, digest: sha256, recordedAt: services.clock().getTime(), facts };
}

/** Scans a collection without the memories of the test user. */
export async function scanCollection(
  { vectors, clock }: Pick<Services, 'vectors' | 'clock'>,
  { runId }: Pick<Run, 'runId'>,
  collection: string,
): Promise<Scan> {
  return await scan(
    { store: vectors, collection },
    { excludedUser: testUserOf(runId), now: clock() },
  );
}

/** Counts with mem0's index, within a second for a million memories. Scans if the index is incomplete. */
export async function countUsers(
  services: Pick<Services, 'vectors' | 'clock'>,
  run: Pick<Run, 'runId'>,
  collection: string,
): Promise<Counted> {
  const counted = await countByIndex(services, run, collection);
  return counted ?? (await scanCollection(services, run, collection));
}

async function countByIndex(
  { vectors }: Pick<Services, 'vectors'>,
  run: Pick<Run, 'runId'>,
  collection: string,
): Promise<Counted | undefined> {
  const owners: { readonly name: string; readonly count: number }[] = [];
  const conditions: { is_empty: { key: string } }[] = [];
  let uncounted = await vectors.count(collection);
  for (const key of OWNER_KEYS) {
    if (uncounted === 0) break;
    const filter: Filter = { must: [...conditions] };
    const facets = await vectors
      .facet(collection, key, MAX_USERS, filter)
      .catch(recoverWith(undefined, whenRefusedWith(400)));
    // The collection has no such index.
    if (!facets) return undefined;
    conditions.push({ is_empty: { key } });
    const counted = facets.reduce((sum, { count }) => sum + count, 0);
    const remaining = await vectors.count(collection, { must: [...conditions] });
    // The index is incomplete: for example, it omits ids that are numbers.
    if (counted + remaining !== uncounted) return undefined;
    owners.push(
      ...facets.map(({ value, count }) => ({ name: nameOwner(key, String(value)), count })),
    );
    uncounted = remaining;
  }
  owners.push({ name: NO_USER, count: uncounted });
  const counts = createUserCounts();
  const digest = createDigestSum();
  let points = 0;
  for (const { name, count } of owners) {
    if (name === testUserOf(run.runId)) continue;
    const hash = hashUser(name);
    digest.add(hash, count);
    points += count;
    if (name !== NO_USER && count > 0) counts.add(digestUser(name, hash), count);
  }
  return { counts, contents: { points, users: counts.countUsers(), usersDigest: digest.toHex() } };
}

const MAX_USERS = 1_000_000;
