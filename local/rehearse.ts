// npm run rehearse: the whole migration, forwards, back and broken, in a sandbox on this machine or on the services that
// the environment names. Exit code 0: nothing was lost; 1: something was, or an act ended otherwise than meant; 2: could
// not rehearse.
import type { Act } from './rehearsal/acts/act.ts';
import { ACTS } from './rehearsal/acts.ts';
import { endingOf } from './rehearsal/ending.ts';
import { isWell, outcomeOf } from './rehearsal/outcome.ts';
import { describeParts, openParts, type Parts } from './rehearsal/parts.ts';
import { type Orders, readOrders } from './rehearsal/read-orders.ts';
import { startRehearsal } from './rehearsal/rehearsal.ts';
import { type Played, tellAct, tellCounts, tellFaults } from './rehearsal/telling.ts';
import { createRunning } from './running.ts';
import { firstLine } from './start-error.ts';

const running = createRunning();
let isLeaving = false;
// Each may come more than once: of Ctrl-C the terminal tells, and npm.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isLeaving) return;
    console.error('Interrupted: what the rehearsal has made is removed.');
    leave(2);
  });
}

try {
  const orders = readOrders(
    process.argv.slice(2),
    ACTS.map(({ title }) => title),
  );
  if ('tells' in orders) console.log(orders.tells);
  await leave('tells' in orders || (await rehearse(orders)) ? 0 : 1);
} catch (error) {
  if (!isLeaving) console.error(firstLine(error));
  await leave(2);
}

async function rehearse(orders: Orders): Promise<boolean> {
  const parts = await openParts(orders, running);
  for (const line of describeParts(parts)) console.log(line);
  const played: Played[] = [];
  for (const [n, act] of ACTS.entries()) {
    if (orders.acts && !orders.acts.includes(n + 1)) continue;
    const result = await play(act, { parts, number: n + 1, memories: orders.memories });
    console.log(tellAct(result));
    played.push(result);
  }
  console.log(`\n${tellCounts(played)}\n`);
  for (const fault of tellFaults(played)) console.log(fault);
  const outcomes = played.flatMap(({ outcome }) => ('skipped' in outcome ? [] : [outcome]));
  const skipped = played.length - outcomes.length;
  if (skipped > 0) console.log(`${skipped} of ${played.length} acts were skipped.`);
  const isAllWell = outcomes.every(isWell);
  console.log(isAllWell ? 'Nothing was lost.' : 'The rehearsal failed.');
  return isAllWell;
}

async function play(
  act: Act,
  context: { readonly parts: Parts; readonly number: number; readonly memories: number },
): Promise<Played> {
  const { title, options = {}, uploads = false, obstacle } = act;
  const { parts, number, memories } = context;
  const begun = performance.now();
  const skipped = obstacle?.(parts);
  if (skipped) return { number, title, seconds: 0, outcome: { skipped } };
  const users = Math.ceil(memories / 20);
  const rehearsal = await startRehearsal(parts, number, {
    uploads,
    options: { memories, users, ...options },
  });
  try {
    const outcome = await outcomeOf(rehearsal, await endingOf(act, rehearsal));
    return { number, title, seconds: (performance.now() - begun) / 1_000, outcome };
  } finally {
    await rehearsal.close();
  }
}

async function leave(code: number): Promise<void> {
  isLeaving = true;
  try {
    await running.stop();
    process.exit(code);
  } catch (error) {
    console.error(`Not everything could be removed: ${firstLine(error)}`);
    process.exit(2);
  }
}
