// What the memory backend counts of each user: several are asked for at once, those with most memories first, and not for
// longer than a backup in the window can spare.
import type { Services } from '../services.ts';

const AT_ONCE = 16;
export const LONGEST_MS = 120_000;

export interface Testimony {
  /** By user, of everybody who was asked for. */
  readonly counted: ReadonlyMap<string, number>;
  /** A key may be good for its own user's count only. */
  readonly isRefused: boolean;
}

/** What ends the asking early: the function's own time, and a turn that is over. */
export interface Patience {
  readonly hasTime: () => boolean;
  readonly signal: AbortSignal;
}

/** @throws what any answer but a refused key fails with, once nothing is under way any more */
export async function askWitness(
  { backend, clock }: Pick<Services, 'backend' | 'clock'>,
  users: readonly { readonly userId: string; readonly points: number }[],
  { hasTime, signal }: Patience,
): Promise<Testimony> {
  const until = clock().getTime() + LONGEST_MS;
  const waiting = users.toSorted((one, other) => other.points - one.points).values();
  const counted = new Map<string, number>();
  let failure: { readonly error: unknown } | undefined;

  const goesOn = () => !failure && !signal.aborted && hasTime() && clock().getTime() < until;

  /** @returns whether there was anybody left */
  async function askNext(): Promise<boolean> {
    const { value: user } = waiting.next();
    if (!user) return false;
    try {
      counted.set(user.userId, await backend.memoryCount(user.userId));
    } catch (error) {
      failure ??= { error };
    }
    return true;
  }

  async function askOn(): Promise<void> {
    while (goesOn() && (await askNext()));
  }

  // By itself: whoever refuses, or is away, does so once.
  if (goesOn()) await askNext();
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  signal.throwIfAborted();
  if (!failure) return { counted, isRefused: false };
  if ((failure.error as Error).name !== 'RefusedKeyOfOtherUser') throw failure.error;
  return { counted: new Map(), isRefused: true };
}
