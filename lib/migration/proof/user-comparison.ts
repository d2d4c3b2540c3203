// Every user's count as it was recorded before, against the collection that is live now.

import { Refusal } from '../refusals.ts';
import { parseReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Services } from '../services.ts';
import { readManifest } from './backup-manifest.ts';
import { countRecordSchema } from './count-record.ts';
import { takeCensus } from './user-census.ts';
import { userDigest } from './user-digest.ts';

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

/** Users whose count is another than recorded, and by how much. @throws Refusal */
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
