// npm run rehearse [-- --memories N]: the whole migration in a sandbox on this machine, forwards, back and broken.
// Exit code 0: nothing was lost; 1: something was, or an act ended otherwise than meant; 2: could not rehearse.
import { parseArgs } from 'node:util';
import { startEmbeddedEngine } from './engine.ts';
import { speakLocally } from './local-access.ts';
import { ACTS, type Act, type Outcome } from './rehearsal/acts.ts';
import { startRehearsal, type TimelineEntry } from './rehearsal/rehearsal.ts';
import { createRunning } from './running.ts';
import { firstLine } from './start-error.ts';

const running = createRunning();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(2));

try {
  await leave((await rehearse(readMemories())) ? 0 : 1);
} catch (error) {
  console.error(`The rehearsal cannot go on: ${firstLine(error)}`);
  await leave(2);
}

function readMemories(): number {
  const { values } = parseArgs({ options: { memories: { type: 'string', default: '2000' } } });
  const memories = Number(values.memories);
  if (Number.isSafeInteger(memories) && memories > 0) return memories;
  throw new Error('--memories is not a whole number above 0');
}

async function rehearse(memories: number): Promise<boolean> {
  speakLocally(process.env);
  const { endpoint } = await startEmbeddedEngine(running);
  const rows = [];
  for (const act of ACTS) {
    const { outcome, timeline, seconds } = await play(act, endpoint, memories);
    printTimeline(act, timeline, seconds);
    rows.push({ act: act.title, ...toRow(outcome) });
  }
  console.table(rows);
  const isWell = rows.every(({ lost, asMeant }) => lost === 'nothing' && asMeant === 'yes');
  console.log(isWell ? 'Nothing was lost.' : 'The rehearsal failed.');
  return isWell;
}

async function play({ play, options = {} }: Act, endpoint: string, memories: number) {
  const begun = performance.now();
  const users = Math.ceil(memories / 20);
  const rehearsal = await startRehearsal(endpoint, { memories, users, ...options });
  try {
    const outcome = await play(rehearsal);
    const seconds = (performance.now() - begun) / 1_000;
    return { outcome, timeline: rehearsal.timeline, seconds };
  } finally {
    await rehearsal.close();
  }
}

function printTimeline({ title }: Act, timeline: readonly TimelineEntry[], seconds: number): void {
  console.log(`\n${title} (${seconds.toFixed(1)} s)`);
  for (const { minutes, event } of timeline) {
    console.log(`  ${minutes.toFixed(1).padStart(6)} min  ${event}`);
  }
}

function toRow({ phase, collection, points, isWhole, endedAsMeant, acknowledgedLoss }: Outcome) {
  return {
    phase,
    collection,
    before: points.before,
    after: points.after,
    acknowledged: acknowledgedLoss,
    lost: isWhole ? 'nothing' : 'SOMETHING',
    asMeant: endedAsMeant ? 'yes' : 'NO',
  };
}

async function leave(code: number): Promise<never> {
  await running.stop();
  process.exit(code);
}
