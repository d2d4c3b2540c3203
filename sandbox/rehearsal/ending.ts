// Plays an act to its end, even if a failure stops it.
import { firstLine } from '../../lib/shared/user-error.ts';
import type { Act, Ending } from './acts/act.ts';
import type { Rehearsal } from './rehearsal.ts';

/**
 * Plays an act. A failure that stops it is noted as a surprise, so that the other acts can still be played.
 * @throws the failure, if the act has no run yet
 */
export async function playToEnding(
  { play }: Pick<Act, 'play'>,
  rehearsal: Rehearsal,
): Promise<Ending> {
  try {
    return await play(rehearsal);
  } catch (error) {
    const { phase } = await rehearsal.run().catch(() => {
      throw error;
    });
    rehearsal.expect(`the act continues after: ${firstLine(error)}`, false);
    return { phase };
  }
}
