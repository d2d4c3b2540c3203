// Walks in many invocations, each of which has little time, and the cursors that they store in between
import { openWalk, Paused, type Walk } from '../../../lib/migration/runs/journal.ts';

interface Resumption<Cursor> {
  readonly cursor?: Cursor | undefined;
  readonly hasTime?: () => boolean;
}

/** Opens a walk that stores its cursors as JSON, and by default has time for one page. */
export function openStoredWalk<Cursor>({ cursor, hasTime = () => false }: Resumption<Cursor> = {}) {
  const kept: Cursor[] = [];
  const keep = async (cursor: Cursor) => void kept.push(JSON.parse(JSON.stringify(cursor)));
  const walk: Walk<Cursor> = openWalk({ hasTime }, { cursor, keep });
  return { walk, kept };
}

const MAX_INVOCATIONS = 100;

/** Takes a walk to its end, in invocations of one page each. */
export async function walkInPieces<Cursor, Found>(
  work: (walk: Walk<Cursor>) => Promise<Found>,
): Promise<{ readonly found: Found; readonly kept: readonly Cursor[] }> {
  const kept: Cursor[] = [];
  while (kept.length < MAX_INVOCATIONS) {
    const piece = openStoredWalk<Cursor>({ cursor: kept.at(-1) });
    const ended = await work(piece.walk).then(
      (found) => ({ found }),
      (error: unknown) => {
        if (!(error instanceof Paused)) throw error;
      },
    );
    if (ended) return { ...ended, kept };
    kept.push(...piece.kept);
  }
  throw new Error(`The walk did not end in ${MAX_INVOCATIONS} invocations`);
}
