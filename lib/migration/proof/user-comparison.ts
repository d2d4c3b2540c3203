// Every user's count as it was recorded before, against the collection that is live now.

import * as v from 'valibot';
import { parseReport } from '../ports/reports.ts';
import { Refusal } from '../refusals.ts';
import { type Run, referenceSchema } from '../runs/run.ts';
import type { Services } from '../services.ts';
import { graphDumpSchema } from '../steps/graph-backup.ts';
import { partSchema, snapshotSchema } from '../steps/snapshot-backup.ts';
import { countRecordSchema } from './count-record.ts';
import { fingerprintSchema } from './fingerprint.ts';
import { takeCensus } from './user-census.ts';
import { userDigest } from './user-digest.ts';

const manifestSchema = v.object({
  collection: v.string(),
  storeVersion: v.string(),
  counts: referenceSchema,
  snapshot: snapshotSchema,
  parts: v.array(partSchema),
  sha256: v.string(),
  /** What the snapshot held when it was restored for a try. */
  drilled: fingerprintSchema,
  graph: graphDumpSchema,
});

export type BackupManifest = v.InferOutput<typeof manifestSchema>;

/** @throws Refusal where there is none, or it is not what was recorded */
export async function readManifest(services: Services, run: Run): Promise<BackupManifest> {
  const reference = run.evidence['backup-manifest'];
  if (!reference) throw new Refusal('RefusedMissingEvidence', 'There is no backup.');
  return await parseReport(services, reference, manifestSchema);
}

/** @throws Refusal naming the first users, by digest, whose counts differ */
export async function assertCountsEqual(
  services: Services,
  run: Run,
  collection: string,
): Promise<void> {
  const { before, after, different } = await compareCounts(services, run, collection);
  if (different.length === 0 && before === after) return;
  const examples = different
    .slice(0, 5)
    .map(({ userId }) => userDigest(userId))
    .join(', ');
  throw new Refusal(
    'RefusedCountsDiffer',
    `${different.length} users have other counts than recorded (${examples}), ${after} points where there were ${before}.`,
  );
}

/** Users whose count is another than recorded, and by how much. @throws MissingArtifactError, Refusal */
export async function compareCounts(services: Services, run: Run, collection: string) {
  const { counts } = await readManifest(services, run);
  const before = await parseReport(services, counts, countRecordSchema);
  const after = await takeCensus(services.vectors, { collection, now: services.clock() });
  const recorded = new Map(before.users.map(({ userId, points }) => [userId, points]));
  const different = [...new Set([...recorded.keys(), ...after.users.keys()])]
    .map((userId) => ({
      userId,
      by: (after.users.get(userId) ?? 0) - (recorded.get(userId) ?? 0),
    }))
    .filter(({ by }) => by !== 0);
  return { before: before.points, after: after.points, different };
}
