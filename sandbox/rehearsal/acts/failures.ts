// Acts in which something breaks: a process, the window, the store, the backup, a key, or the new version itself.
import { createHttpMemoryBackend } from '../../../lib/migration/adapters/http-memory-backend.ts';
import { createQdrant } from '../../../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../../../lib/migration/adapters/secrets.ts';
import { LEASE_MS } from '../../../lib/migration/runs/run-store.ts';
import type { Fault } from '../fault-proxy.ts';
import type { Rehearsal } from '../rehearsal.ts';
import type { Act } from './act.ts';

const MINUTE_MS = 60_000;
const PAGE_SIZE = 256;
/** Timeout after which the migration repeats a request to the store. */
const SILENCE_MS = 2_000;

const EFFECTS: readonly Fault['effect'][] = [
  { kind: 'response', status: 500 },
  { kind: 'response', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'lose-response' },
  { kind: 'silence' },
];

export const FAILURES: readonly Act[] = [
  {
    title: 'a new version without its keyword model: the machine rolls back by itself',
    options: { hasPreview: false, shortcomings: { noKeywordModel: true } },
    obstacle: ({ backend }) => (backend ? 'a real backend has its model' : undefined),
    play: async ({ migrate, expect }) => {
      const failure = await migrate();
      expect('no person has to confirm', failure?.name === 'RolledBack');
      return { phase: 'copied' };
    },
  },
  {
    title: 'the window closes while no step is running: the watch rolls back',
    play: async ({ migrate, run, note, advanceClock, keepWatch, expect }) => {
      await migrate({ until: 'Cutover' });
      note('the state machine dies');
      await keepWatch();
      expect(
        'the watch leaves the window alone while it is open',
        (await run()).phase === 'switching',
      );
      const { windowMinutes } = (await run()).plan;
      advanceClock(windowMinutes * MINUTE_MS);
      note(`${windowMinutes} minutes are over`);
      await keepWatch();
      return { phase: 'copied' };
    },
  },
  {
    title: 'processes killed in the middle of the copy and of the cutover',
    // The killed process could not reach the sandbox's graph, which is in this process's memory.
    options: { hasGraph: false },
    obstacle: ({ backend }) =>
      backend?.asksAPerson ? 'a separate process needs a webhook, and there is none' : undefined,
    play: async (rehearsal) => {
      await rehearsal.migrate({ until: 'Copy' });
      await killInCopy(rehearsal);
      await rehearsal.migrate({ until: 'Cutover' });
      await killInCutover(rehearsal);
      await rehearsal.migrate();
      return { phase: 'live' };
    },
  },
  {
    title: 'a store that fails, is busy, loses responses or stops responding, in every step',
    play: async ({ parts, migrate, addFault, services, expect }) => {
      const { faultProxy, apiKey } = parts.store;
      const vectors = createQdrant({ url: faultProxy.url, apiKey, timeoutMs: SILENCE_MS });
      const failedStates = new Set(['ReadStatus']);
      await migrate({
        services: { ...services, vectors },
        onTask: (state) => {
          const effect = EFFECTS[(failedStates.size - 1) % EFFECTS.length];
          if (effect && !failedStates.has(state)) addFault({ on: /^(PUT|POST)/, effect });
          failedStates.add(state);
        },
      });
      const steps = failedStates.size - 1;
      const survived = steps - faultProxy.waiting();
      const isEachSurvived = survived === steps && steps >= EFFECTS.length;
      expect(`${survived} failures in ${steps} steps were survived`, isEachSurvived);
      return { phase: 'live' };
    },
  },
  {
    title: 'a snapshot cut off during its download, then corrupted: no backup until it is complete',
    play: async ({ migrate, addFault, run, expect }) => {
      const file = /^GET .*\/snapshots\/[^/?]+$/;
      addFault({ on: file, effect: { kind: 'cut', bytes: 100 } });
      addFault({ on: file, skips: 1, effect: { kind: 'corrupt' } });
      const failure = await migrate();
      const isRefused = failure?.name === 'RefusedSnapshot';
      expect('the corrupted backup is refused', isRefused && (await run()).phase === 'checked');
      const secondFailure = await migrate();
      expect('it continues after another backup', secondFailure === undefined);
      return { phase: 'live' };
    },
  },
  {
    title: "a wrong key, and another user's key: no run begins with either",
    play: async (rehearsal) => {
      const refusals = [await captureRefusal(rehearsal, 'an-unknown-key')];
      if (!rehearsal.parts.backend) {
        rehearsal.world.backend.grant('key-of-user-1', 'user-1');
        refusals.push(await captureRefusal(rehearsal, 'key-of-user-1'));
      }
      const namesKey = (refusal: string) =>
        /^RefusedPrerequisites: Not met: (Memory backend|API key of the test user)\./.test(refusal);
      rehearsal.expect('each is refused because of its key', refusals.every(namesKey));
      return { phase: 'not begun' };
    },
  },
];

async function killInCopy(rehearsal: Rehearsal): Promise<void> {
  const { initialMemories, target, addFault, startStepProcess, services, expect, advanceClock } =
    rehearsal;
  const pages = Math.ceil(initialMemories.size / PAGE_SIZE);
  const copyProcess = await startStepProcess(['copy']);
  addFault({
    on: /^PUT .*_v3_[^/]*\/points\?/,
    skips: Math.ceil(pages / 2) - 1,
    effect: { kind: 'lose-response', andThen: copyProcess.kill },
  });
  const outcome = await copyProcess.ended;
  const copied = await services.vectors.count(target);
  expect(
    `copy: ${outcome} with ${copied} of ${initialMemories.size} copied`,
    outcome === 'SIGKILL' && copied > 0,
  );
  advanceClock(LEASE_MS);
}

async function killInCutover(rehearsal: Rehearsal): Promise<void> {
  const { target, startStepProcess, services, expect, advanceClock } = rehearsal;
  let kill = () => {};
  const cutoverProcess = await startStepProcess(['cutover', '--yes'], (action) => {
    if (action === 'deploy-new') kill();
  });
  kill = cutoverProcess.kill;
  const outcome = await cutoverProcess.ended;
  const isSet = (await services.setting.read()) === target;
  expect(`cutover: ${outcome} with the new version just deployed`, outcome === 'SIGKILL' && isSet);
  advanceClock(LEASE_MS);
}

async function captureRefusal({ parts, world, services, migrate }: Rehearsal, key: string) {
  const url = parts.backend ? parts.backend.url : world.backend.url;
  const apiKey = createSecret(key);
  const backend = createHttpMemoryBackend({ url, apiKey, timeoutMs: 10_000 });
  return String(await migrate({ services: { ...services, backend } }));
}
