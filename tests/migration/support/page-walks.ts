// Runs a walk in many short invocations, and keeps the cursors that it stores
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

/** Runs a walk to its end, in invocations of one page each. */
export async function walkPageByPage<Cursor, Result>(
  work: (walk: Walk<Cursor>) => Promise<Result>,
): Promise<{ readonly result: Result; readonly cursors: readonly Cursor[] }> {
  const cursors: Cursor[] = [];
  while (cursors.length < MAX_INVOCATIONS) {
    const stored = openStoredWalk<Cursor>({ cursor: cursors.at(-1) });
    const ended = await work(stored.walk).then(
      (result) => ({ result }),
      (error: unknown) => {
        if (!(error instanceof Paused)) throw error;
      },
    );
    if (ended) return { ...ended, cursors };
    cursors.push(...stored.cursors);
  }
  throw new Error(`The walk did not end in ${MAX_INVOCATIONS} invocations`);
}
