// Time that passes only while everybody sleeps: whoever has the earliest alarm wakes next, and nothing waits in earnest.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Pace, STANDARD_PACE } from '../../lib/retry.ts';
import type { Client } from './store-faults.ts';

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

export function createVirtualTime() {
  const sleepers: Sleeper[] = [];
  let time = 0;
  let callsUnderWay = 0;

  const now = () => time;

  function sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      sleepers.push({ wakeAt: time + milliseconds, wake });
      sleepers.sort((one, other) => one.wakeAt - other.wakeAt);
    });
  }

  /** The client whose calls take no time here, however long they really take. */
  function watch(client: Client): Client {
    const send = async (command: Parameters<Client['send']>[0]) => {
      callsUnderWay += 1;
      try {
        return await client.send(command);
      } finally {
        callsUnderWay -= 1;
      }
    };
    return { send: send as Client['send'] };
  }

  /** Waits for work that sleeps in this time and calls through watched clients. */
  async function run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    while (!isDone) {
      await nextTurn();
      if (callsUnderWay === 0) wakeNext();
    }
    return await work;
  }

  function wakeNext(): void {
    const next = sleepers.shift();
    if (!next) return;
    time = next.wakeAt;
    next.wake();
  }

  return { now, sleep, watch, run };
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** The standard pace in virtual time, with a note of every sleep that was asked for. */
export function createVirtualPace(
  { now, sleep }: VirtualTime,
  random: () => number = () => 0.5,
): Pace & { readonly delays: readonly number[] } {
  const delays: number[] = [];
  return {
    ...STANDARD_PACE,
    delays,
    now,
    random,
    sleep: (milliseconds) => {
      delays.push(milliseconds);
      return sleep(milliseconds);
    },
  };
}
