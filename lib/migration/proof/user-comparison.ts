// Every user's count as it was recorded before, against the collection that is live now.

import { readReport } from '../ports/reports.ts';
import { Refusal } from '../refusals.ts';
import type { Reference, Run } from '../runs/run.ts';
import type { Services } from '../services.ts';
import type { GraphDump } from '../steps/graph-backup.ts';
import type { CountRecord } from './count-record.ts';
import type { Fingerprint } from './fingerprint.ts';
import { takeCensus } from './user-census.ts';
import { userDigest } from './user-digest.ts';

export interface BackupManifest {
  readonly collection: string;
  readonly storeVersion: string;
  readonly counts: Reference;
  readonly snapshot: {
    readonly name: string;
    readonly size: number;
    readonly checksum: string | null;
  };
  readonly parts: readonly {
    readonly artifact: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  readonly sha256: string;
  /** What the snapshot held when it was restored for a try. */
  readonly drilled: Fingerprint;
  readonly graph: GraphDump;
}

/** @throws Refusal where there is none, or it is not what was recorded */
export async function readManifest(services: Services, run: Run): Promise<BackupManifest> {
  const reference = run.evidence['backup-manifest'];
  if (!reference) throw new Refusal('RefusedMissingEvidence', 'There is no backup.');
  return (await readReport(services, reference)) as BackupManifest;
}

/** @throws Refusal naming the first users, by digest, whose counts differ */
export async function assertCountsEqual(
  services: Services,
  run: Run,
  collection: string,
): Promise<void> {
  const { counts } = await readManifest(services, run);
  const before = (await readReport(services, counts)) as CountRecord;
  const after = await takeCensus(services.vectors, { collection, now: services.clock() });
  const recorded = new Map(before.users.map(({ userId, points }) => [userId, points]));
  const different = [...new Set([...recorded.keys(), ...after.users.keys()])].filter(
    (userId) => (recorded.get(userId) ?? 0) !== (after.users.get(userId) ?? 0),
  );
  if (different.length === 0 && before.points === after.points) return;
  const examples = different.slice(0, 5).map(userDigest).join(', ');
  throw new Refusal(
    'RefusedCountsDiffer',
    `${different.length} users have other counts than recorded (${examples}), ${after.points} points where there were ${before.points}.`,
  );
}
