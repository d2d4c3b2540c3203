// What stops users or cannot be taken back is asked for twice: the second time by the run's own id.
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../../lib/migration/refusals.ts';

/** @param typed given in place of typing it. @throws Refusal, and nothing has been done */
export async function confirmRun(
  { runId, typed }: { readonly runId: string; readonly typed: string | undefined },
  terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
): Promise<void> {
  const answer = typed ?? (await ask(runId, terminal));
  if (answer === runId) return;
  const said =
    answer === undefined ? 'Nobody was there to confirm' : `"${answer}" does not confirm`;
  throw new Refusal('RefusedUnconfirmed', `${said} what is to be done with ${runId}.`);
}

async function ask(
  runId: string,
  { input, output }: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
): Promise<string | undefined> {
  if (!input.isTTY) return undefined;
  const lines = createInterface({ input, output });
  try {
    return (await lines.question(`To do this, type the run's id, ${runId}: `)).trim();
  } finally {
    lines.close();
  }
}
