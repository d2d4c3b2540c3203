// The end of an act: its outcome, or the failure that stopped it.
import { firstLine } from '../../lib/shared/user-error.ts';
import type { Act, Ending } from './acts/act.ts';
import type { Rehearsal } from './rehearsal.ts';

/**
 * An act that cannot continue has failed: its run is described, and the other acts are played.
 * @throws the failure, if there is no run to describe
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
    rehearsal.expect(`the act goes on, in spite of: ${firstLine(error)}`, false);
    return { phase };
  }
}
