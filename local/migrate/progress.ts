// How far a step has come, for a person at a terminal: asked of the status while the step is at work, here or on a stage.
import { setTimeout } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import type { Progress } from '../../lib/migration/runs/run.ts';
import { type Place, statusIn } from './place.ts';

const POLL_MS = 2_000;

/** Nothing is asked and nothing shown where nobody looks. */
export function createProgress(output: NodeJS.WriteStream, pollMs = POLL_MS) {
  /** Carries the work out, and shows how far it is until it has ended. */
  async function during<Result>(
    { place, runId }: { readonly place: Place; readonly runId: string | undefined },
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (!output.isTTY || runId === undefined) return await work();
    const bar = createBar(output);
    const ended = new AbortController();
    const following = follow({ place, runId, pollMs }, bar.show, ended.signal);
    try {
      return await work();
    } finally {
      ended.abort();
      await following;
      bar.stop();
    }
  }

  return { during };
}

async function follow(
  { place, runId, pollMs }: { place: Place; runId: string; pollMs: number },
  show: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<void> {
  while (await passed(pollMs, signal)) {
    // What is wrong with the services is the step's to say.
    const status = await statusIn(place, runId).catch(() => undefined);
    if (status?.progress && !signal.aborted) show(status.progress);
  }
}

async function passed(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return await setTimeout(milliseconds, true, { signal }).catch(() => false);
}

function createBar(stream: NodeJS.WriteStream) {
  const bar = new SingleBar({ stream, hideCursor: true });
  return {
    show({ done, total }: Progress) {
      if (!bar.isActive) bar.start(total, done);
      bar.update(done);
    },
    stop() {
      if (bar.isActive) bar.stop();
    },
  };
}
