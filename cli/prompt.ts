// Asks questions at the terminal.
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../lib/migration/refusals.ts';
import type { Streams } from './migration/migrate/output.ts';

/** Returns the answer; undefined without a terminal, or if `cancelSignal` is aborted first. @throws InterruptedError */
export type Ask = (question: string, cancelSignal?: AbortSignal) => Promise<string | undefined>;

/** Thrown when the operator does not answer a question. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
}

/** @param signal aborted by Ctrl-C, even while a question is open */
export function createAsk(
  { input, status }: Pick<Streams, 'input' | 'status'>,
  signal: AbortSignal,
): Ask {
  return async (question, cancelSignal) => {
    if (input.isTTY !== true) return undefined;
    const terminal = createInterface({ input, output: status });
    const closed = new Promise<undefined>((resolve) => {
      terminal.once('SIGINT', () => terminal.close()).once('close', () => resolve(undefined));
    });
    const stopSignal = cancelSignal ? AbortSignal.any([signal, cancelSignal]) : signal;
    const answered = terminal.question(question, { signal: stopSignal }).catch(() => undefined);
    try {
      const answer = await Promise.race([answered, closed]);
      if (answer !== undefined) return answer.trim();
    } finally {
      terminal.close();
    }
    if (cancelSignal?.aborted && !signal.aborted) {
      // Ends the line of the question, so that the next output starts on a new line.
      status.write('\n');
      return undefined;
    }
    throw new InterruptedError('The question was not answered.');
  };
}

/** Asks the operator to type the run's id. @throws Refusal unless the id is typed */
export async function confirmRun(ask: Ask, { runId, action }: { runId: string; action: string }) {
  const question = `${action}.\nType the run id ${runId} to continue: `;
  const answer = await ask(question).catch((error: unknown) => {
    if (error instanceof InterruptedError) return undefined;
    throw error;
  });
  if (answer === runId) return;
  const why = answer === undefined ? 'Not confirmed' : `"${answer.slice(0, 40)}" does not confirm`;
  throw new Refusal('RefusedNotApproved', `${why}: ${action}.`);
}
