// Virtual time: when nothing is left to do but wait, the time jumps to the next alarm, so that no real time is spent.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../lib/shared/retry.ts';

export type Client = Pick<DynamoDBDocumentClient, 'send'>;

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
}

export function createVirtualTime() {
  const alarms: Alarm[] = [];
  let time = 0;
  let pendingCalls = 0;
  let wake = () => {};

  const now = () => time;

  function sleep(milliseconds: number): Promise<void> {
    return new Promise((ring) => setAlarm(milliseconds, ring));
  }

  function timeoutSignal(milliseconds: number): AbortSignal {
    const controller = new AbortController();
    setAlarm(milliseconds, () => controller.abort());
    return controller.signal;
  }

  function setAlarm(milliseconds: number, ring: () => void): void {
    alarms.push({ at: time + milliseconds, ring });
    alarms.sort((first, second) => first.at - second.at);
  }

  /** Wraps a client so that its calls take no virtual time, however long they really take. */
  function watch(client: Client): Client {
    const send = async (command: Parameters<Client['send']>[0], options: object) => {
      pendingCalls += 1;
      try {
        return await client.send(command, options);
      } finally {
        pendingCalls -= 1;
        wake();
      }
    };
    return { send: send as Client['send'] };
  }

  /** Runs work that sleeps in virtual time and whose calls go through watched clients. */
  async function run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const finish = () => {
      isDone = true;
      wake();
    };
    work.then(finish, finish);
    while (!isDone) {
      // Turns of this loop during a call would take processor time from the database.
      if (pendingCalls > 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      await nextTurn();
      if (pendingCalls === 0) passTime();
    }
    return await work;
  }

  function passTime(): void {
    const next = alarms.shift();
    if (!next) return;
    time = next.at;
    next.ring();
  }

  return { now, sleep, timeoutSignal, watch, run };
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** Creates the default retry policy in virtual time, and records every delay. */
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
