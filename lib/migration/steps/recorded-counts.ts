// How many memories every user has: counted in the restored snapshot of a backup, with the memory backend as a second
// witness. The collection that goes live has to have the same counts.
import { testUserOf } from '../ports/memory-backend.ts';
import { readManifest } from '../proof/backup-manifest.ts';
import { Refusal } from '../refusals.ts';
import type { Reference, Run } from '../runs/run.ts';
import type { StepContext } from '../runs/step.ts';
import { type Scan, scan } from '../scan.ts';
import type { Services } from '../services.ts';
import { countDifferences, readUserCounts, userCountLines } from '../user-counts.ts';
import { askWitness } from './second-witness.ts';

const MAX_EXAMPLES = 5;

/** One line for each user, in an artifact: a hash of the user, and how many memories. */
export async function storeCounts(context: StepContext, scanned: Scan): Promise<Reference> {
  const { services, run, lease } = context;
  const { points, users, usersDigest } = scanned.contents;
  const key = `${run.runId}/user-counts-${lease.epoch}.txt`;
  const { sha256 } = await services.artifacts.put(key, userCountLines(scanned.counts));
  const witness = await askWitness(context, scanned);
  const facts = { points, users, usersDigest, ...witness };
  return { artifact: key, digest: sha256, recordedAt: services.clock().getTime(), facts };
}

/** The present contents of a collection, without the memories of the test user. */
export async function scanCollection(
  { vectors, clock }: Pick<Services, 'vectors' | 'clock'>,
  { runId }: Pick<Run, 'runId'>,
  collection: string,
): Promise<Scan> {
  return await scan({ store: vectors, collection }, { without: testUserOf(runId), now: clock() });
}

/** @throws Refusal naming some users, by digest, whose counts differ from those recorded */
export async function assertCountsEqual(services: Services, run: Run, after: Scan): Promise<void> {
  const { counts } = await readManifest(services, run);
  if (counts.facts.usersDigest === after.contents.usersDigest) return;
  const { differing, examples } = await compareCounts(services, run, after);
  throw new Refusal(
    'RefusedVerification',
    `${differing} users have other counts than recorded (${examples.join(', ')}), ${after.contents.points} points where there were ${counts.facts.points}.`,
  );
}

/** How far the counts are from those recorded. @throws MissingArtifactError, Refusal */
export async function compareCounts(services: Services, run: Run, after: Scan) {
  const { counts } = await readManifest(services, run);
  const before = await readUserCounts(services.artifacts, counts);
  const found = { differing: 0, points: 0 };
  const examples: string[] = [];
  for (const { user, by } of countDifferences(before, after.counts)) {
    found.differing += 1;
    found.points += Math.abs(by);
    if (examples.length < MAX_EXAMPLES) examples.push(user);
  }
  return { ...found, examples };
}
