// What the memory backend counts for some users, beside the exact count of the vector store. It is recorded and decides
// nothing: versions of the backend cap the number, and a frozen backend may not answer at all.
import { userDigest } from '../points.ts';
import type { Scan } from '../scan.ts';
import type { Services } from '../services.ts';

const AT_ONCE = 16;
export const LONGEST_MS = 120_000;

/** Figures for the record. */
export type Testimony = {
  /** asked: every user of the sample. in-part: time was up before. unavailable: an answer failed, and none counts. */
  readonly witness: 'asked' | 'in-part' | 'unavailable';
  readonly asked: number;
  /** Users for whom the backend counts otherwise. */
  readonly disagreements: number;
  /** The first of them, by digest. */
  readonly disagreeing: string;
};

/** What ends the questions early: the time of the function, and a lost lock. */
export interface Patience {
  readonly services: Pick<Services, 'backend' | 'clock'>;
  readonly hasTime: () => boolean;
  readonly signal: AbortSignal;
}

const MAX_EXAMPLES = 5;

export async function askWitness(
  { services: { backend, clock }, hasTime, signal }: Patience,
  { sample, counts }: Pick<Scan, 'sample' | 'counts'>,
): Promise<Testimony> {
  const until = clock().getTime() + LONGEST_MS;
  const waiting = sample.values();
  const disagreeing: string[] = [];
  let asked = 0;
  let isAvailable = true;

  const goesOn = () => isAvailable && !signal.aborted && hasTime() && clock().getTime() < until;

  /** @returns whether there was a user left */
  async function askNext(): Promise<boolean> {
    const { value: user } = waiting.next();
    if (user === undefined) return false;
    try {
      const counted = await backend.memoryCount(user);
      asked += 1;
      const digest = userDigest(user);
      if (counted !== counts.pointsOf(digest)) disagreeing.push(digest);
    } catch {
      isAvailable = false;
    }
    return true;
  }

  async function askOn(): Promise<void> {
    while (goesOn() && (await askNext()));
  }

  // The first question alone: a backend that is away, or refuses the key, answers it once and not 16 times.
  if (goesOn()) await askNext();
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  signal.throwIfAborted();
  if (!isAvailable) return { witness: 'unavailable', asked: 0, disagreements: 0, disagreeing: '' };
  const witness = asked === sample.length ? 'asked' : 'in-part';
  const examples = disagreeing.toSorted().slice(0, MAX_EXAMPLES).join(', ');
  return { witness, asked, disagreements: disagreeing.length, disagreeing: examples };
}
