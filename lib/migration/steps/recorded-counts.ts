// How many memories every user has: counted in the restored snapshot of a backup, with the memory backend as a second
// witness. The collection that goes live has to have the same counts.
import { userDigest } from '../points.ts';
import { Refusal } from '../refusals.ts';
import { readManifest } from '../runs/reports.ts';
import type { Reference, Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { type Scan, scan } from '../scan.ts';
import type { Services } from '../services.ts';
import { readUserCounts, userCountLines } from '../user-counts.ts';

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

/** How far the counts are from those recorded: only the differences are left of them. @throws Refusal */
export async function compareCounts(services: Services, run: Run, after: Scan) {
  const { counts } = await readManifest(services, run);
  const found = { differing: 0, points: 0 };
  const examples: string[] = [];
  for await (const recorded of readUserCounts(services.artifacts, counts)) {
    after.counts.subtract(recorded);
  }
  for (const { user, points } of after.counts.entries()) {
    found.differing += 1;
    found.points += Math.abs(points);
    if (examples.length < MAX_EXAMPLES) examples.push(user);
  }
  return { ...found, examples };
}

const AT_ONCE = 16;
export const LONGEST_MS = 120_000;

/** Figures for the record. */
type Testimony = {
  /** asked: every user of the sample. in-part: time was up before. unavailable: an answer failed, and none counts. */
  readonly witness: 'asked' | 'in-part' | 'unavailable';
  readonly asked: number;
  /** Users for whom the backend counts otherwise. */
  readonly disagreements: number;
  /** The first of them, by digest. */
  readonly disagreeing: string;
};

/** What ends the questions early: the time of the function, and a lost lock. */
interface Patience {
  readonly services: Pick<Services, 'backend' | 'clock'>;
  readonly hasTime: () => boolean;
  readonly signal: AbortSignal;
}

export async function askWitness(
  { services: { backend, clock }, hasTime, signal }: Patience,
  { sample, counts }: Pick<Scan, 'sample' | 'counts'>,
): Promise<Testimony> {
  const until = clock().getTime() + LONGEST_MS;
  const disagreeing: string[] = [];
  let asked = 0;
  while (asked < sample.length && hasTime() && clock().getTime() < until) {
    // The first one alone: a backend that is away, or refuses the key, answers it once and not 16 times.
    const users = sample.slice(asked, asked === 0 ? 1 : asked + AT_ONCE);
    const answers = await Promise.allSettled(users.map((user) => backend.memoryCount(user)));
    signal.throwIfAborted();
    for (const [at, answer] of answers.entries()) {
      if (answer.status === 'rejected') return UNAVAILABLE;
      const digest = userDigest(users[at] ?? '');
      if (answer.value !== counts.pointsOf(digest)) disagreeing.push(digest);
    }
    asked += users.length;
  }
  const witness = asked === sample.length ? 'asked' : 'in-part';
  const examples = disagreeing.toSorted().slice(0, MAX_EXAMPLES).join(', ');
  return { witness, asked, disagreements: disagreeing.length, disagreeing: examples };
}

const UNAVAILABLE: Testimony = {
  witness: 'unavailable',
  asked: 0,
  disagreements: 0,
  disagreeing: '',
};
