// npm run rehearse: plays the whole migration, forward, backward and with failures, in a sandbox on this machine or on the
// services that the environment names.

import { EXIT, reportError, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import type { Act } from './acts/act.ts';
import { ACTS } from './acts.ts';
import { playToEnding } from './ending.ts';
import { isSuccessful, judgeOutcome } from './outcome.ts';
import {
  type ActResult,
  describeAct,
  describeCounts,
  describeEnd,
  describeProblems,
} from './output.ts';
import { createRehearseCommand, type RehearseOptions } from './parse-arguments.ts';
import { describeParts, openParts, type Parts } from './parts.ts';
import { startRehearsal } from './rehearsal.ts';

const EXIT_NOT_REHEARSED = 2;

const resources = createResources();
const command = createRehearseCommand(
  ACTS.map(({ title }) => title),
  async (options) => {
    if (options === 'list') console.log(listTitles(ACTS));
    else if (!(await rehearse(options))) process.exitCode = EXIT.failed;
  },
);
await runProgram(command, {
  resources,
  exitCodeOnSignal: EXIT_NOT_REHEARSED,
  messageOnSignal: () => 'Interrupted: removing what the rehearsal has created.',
  onError: (error) => reportError(error, EXIT_NOT_REHEARSED),
});

function listTitles(acts: readonly Act[]): string {
  return acts.map(({ title }, n) => `${String(n + 1).padStart(2)}  ${title}`).join('\n');
}

async function rehearse(options: RehearseOptions): Promise<boolean> {
  const parts = await openParts(options, resources);
  for (const line of describeParts(parts)) console.log(line);
  const results: ActResult[] = [];
  for (const [n, act] of ACTS.entries()) {
    if (options.acts && !options.acts.includes(n + 1)) continue;
    const result = await play(act, { parts, number: n + 1, memories: options.memories });
    console.log(describeAct(result));
    results.push(result);
  }
  console.log(`\n${describeCounts(results)}\n`);
  for (const problem of describeProblems(results)) console.log(problem);
  const outcomes = results.flatMap(({ outcome }) => ('skipped' in outcome ? [] : [outcome]));
  const skipped = results.length - outcomes.length;
  if (skipped > 0) console.log(`${skipped} of ${results.length} acts were skipped.`);
  console.log(describeEnd(outcomes));
  return outcomes.every(isSuccessful);
}

async function play(
  act: Act,
  context: { readonly parts: Parts; readonly number: number; readonly memories: number },
): Promise<ActResult> {
  const { title, options = {}, uploads = false, isInPlace = false, obstacle } = act;
  const { parts, number, memories } = context;
  const startedAt = performance.now();
  const skipped = obstacle?.(parts);
  if (skipped) return { number, title, seconds: 0, outcome: { skipped } };
  const users = Math.ceil(memories / 20);
  const rehearsal = await startRehearsal(parts, number, {
    uploads,
    options: { memories, users, isInPlace, ...options },
  });
  try {
    const outcome = await judgeOutcome(rehearsal, await playToEnding(act, rehearsal));
    return { number, title, seconds: (performance.now() - startedAt) / 1_000, outcome };
  } finally {
    await rehearsal.close();
  }
}
