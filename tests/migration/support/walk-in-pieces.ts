// Walks in many invocations, each of which has little time, and the cursors that they store
import { openWalk, Paused, type Walk } from '../../../lib/migration/runs/journal.ts';

interface Resumption<Cursor> {
  readonly cursor?: Cursor | undefined;
  readonly hasTime?: () => boolean;
}

/** Opens a walk that stores its cursors as JSON, and by default has time for one page. */
export function openStoredWalk<Cursor>({ cursor, hasTime = () => false }: Resumption<Cursor> = {}) {
  const cursors: Cursor[] = [];
  const saveCursor = async (cursor: Cursor) =>
    void cursors.push(JSON.parse(JSON.stringify(cursor)));
  const walk: Walk<Cursor> = openWalk({ hasTime }, { cursor, saveCursor });
  return { walk, cursors };
}

const MAX_INVOCATIONS = 100;

/** Takes a walk to its end, in invocations of one page each. */
export async function walkInPieces<Cursor, Result>(
  work: (walk: Walk<Cursor>) => Promise<Result>,
): Promise<{ readonly result: Result; readonly cursors: readonly Cursor[] }> {
  const cursors: Cursor[] = [];
  while (cursors.length < MAX_INVOCATIONS) {
    const piece = openStoredWalk<Cursor>({ cursor: cursors.at(-1) });
    const ended = await work(piece.walk).then(
      (result) => ({ result }),
      (error: unknown) => {
        if (!(error instanceof Paused)) throw error;
      },
    );
    if (ended) return { ...ended, cursors };
    cursors.push(...piece.cursors);
  }
  throw new Error(`The walk did not end in ${MAX_INVOCATIONS} invocations`);
}
