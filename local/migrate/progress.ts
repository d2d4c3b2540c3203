// How far a step has come, for a person at a terminal: asked of the status while the step is at work, here or on a stage.
import { setTimeout } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import type { Progress } from '../../lib/migration/runs/run.ts';
import type { CommandName } from './commands.ts';
import { type Place, statusIn } from './place.ts';

const POLL_MS = 2_000;

interface Followed {
  readonly name: CommandName;
  readonly place: Place;
  readonly runId: string | undefined;
}

/** Nothing is asked and nothing shown where nobody looks. */
export function createProgress(output: NodeJS.WriteStream, pollMs = POLL_MS) {
  /** Carries the work out, and shows how far it is until it has ended. */
  async function during<Result>(
    { name, place, runId }: Followed,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (!output.isTTY || runId === undefined) return await work();
    const bar = createBar(output);
    const ended = new AbortController();
    const following = follow({ name, place, runId, pollMs }, bar.show, ended.signal);
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
  { name, place, runId, pollMs }: Followed & { readonly pollMs: number },
  show: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<void> {
  while (await passed(pollMs, signal)) {
    // What is wrong with the services is the step's to say.
    const status = await statusIn(place, runId).catch(() => undefined);
    const progress = status?.progress;
    // Of another step: what it has left behind.
    if (progress?.step === name && !signal.aborted) show(progress);
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
