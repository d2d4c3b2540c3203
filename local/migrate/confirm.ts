// What stops users or cannot be taken back is asked for twice: the second time by the run's own id.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../../lib/migration/refusals.ts';

interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

export interface Meant {
  readonly runId: string;
  /** As the person is told before being asked. */
  readonly what: string;
  /** Given in place of typing it. */
  readonly typed: string | undefined;
}

/** @throws Refusal, and nothing has been done */
export async function confirmRun({ runId, what, typed }: Meant, terminal: Terminal): Promise<void> {
  const answer =
    typed ?? (await ask(`${what}.\nTo do this, type the run's id, ${runId}: `, terminal));
  if (answer === runId) return;
  const said =
    answer === undefined ? 'Nobody was there to confirm' : `"${answer}" does not confirm`;
  throw new Refusal('RefusedUnconfirmed', `${said} what is to be done with ${runId}.`);
}

/** Undefined where nobody can be asked, or whoever was asked went away: by Ctrl-C, or by the end of the input. */
async function ask(question: string, { input, output }: Terminal): Promise<string | undefined> {
  if (!input.isTTY) return undefined;
  const lines = createInterface({ input, output });
  lines.once('SIGINT', () => lines.close());
  const left = once(lines, 'close').then(() => undefined);
  const told = lines.question(question);
  try {
    return await Promise.race([told.then((text) => text.trim()), left]);
  } catch {
    // The question was closed, not answered.
    return undefined;
  } finally {
    lines.close();
  }
}
