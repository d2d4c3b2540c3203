// Questions to the person at the terminal.
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../../lib/migration/refusals.ts';
import type { Streams } from './output.ts';

export type Ask = (question: string) => Promise<string | undefined>;

/**
 * Asks one line; undefined where nobody can be asked, or where the person ends the input.
 * @param signal of Ctrl-C, also while a question is open
 */
export function createAsk(
  { input, status }: Pick<Streams, 'input' | 'status'>,
  signal: AbortSignal,
): Ask {
  return async (question) => {
    if (input.isTTY !== true) return undefined;
    const lines = createInterface({ input, output: status });
    const left = new Promise<undefined>((resolve) => {
      lines.once('SIGINT', () => lines.close()).once('close', () => resolve(undefined));
    });
    const answer = lines.question(question, { signal }).then((text) => text.trim());
    try {
      return await Promise.race([answer.catch(() => undefined), left]);
    } finally {
      lines.close();
    }
  };
}

/** @throws Refusal unless the run's id is typed */
export async function confirmRun(ask: Ask, { runId, what }: { runId: string; what: string }) {
  const answer = await ask(`${what}.\nType the run id ${runId} to continue: `);
  if (answer === runId) return;
  const why =
    answer === undefined ? 'Nobody confirmed' : `"${answer.slice(0, 40)}" does not confirm`;
  throw new Refusal('RefusedUnconfirmed', `${why}: ${what}.`);
}
