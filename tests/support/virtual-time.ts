// Virtual time: it passes only while everything sleeps, up to the next alarm, so that no test really waits.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../lib/retry.ts';
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

  /** Calls take no time here, so none lasts too long. */
  const timeoutSignal = () => new AbortController().signal;

  return { now, sleep, timeoutSignal, watch, run };
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** The default policy in virtual time; it records every delay. */
export function createVirtualRetryPolicy(
  { now, sleep }: VirtualTime,
  random: () => number = () => 0.5,
): RetryPolicy & { readonly delays: readonly number[] } {
  const delays: number[] = [];
  return {
    ...DEFAULT_RETRY_POLICY,
    delays,
    now,
    random,
    sleep: (milliseconds) => {
      delays.push(milliseconds);
      return sleep(milliseconds);
    },
  };
}
