// A process that is killed before or after one of its remote calls, as a vector store sees it: no further call arrives.
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { Killed } from './killable-services.ts';

export interface KillableProcess {
  /** Makes and counts a remote call, and kills the process at the chosen call. */
  track<Result>(call: () => Promise<Result>): Promise<Result>;
  calls(): number;
}

export interface KillPoint {
  /** Position of the call, from 1; 0 if the process is never killed */
  readonly call: number;
  readonly moment: 'before' | 'after';
}

export function createKillableProcess({ call: killedCall, moment }: KillPoint): KillableProcess {
  let calls = 0;
  let isKilled = false;

  async function track<Result>(call: () => Promise<Result>): Promise<Result> {
    if (isKilled) throw new Killed();
    calls += 1;
    if (calls !== killedCall) return call();
    isKilled = true;
    if (moment === 'after') await call();
    throw new Killed();
  }

  return { track, calls: () => calls };
}

export function createKillableStore(store: VectorStore, process: KillableProcess): VectorStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        process.track(() => member.apply(target, parameters) as Promise<unknown>);
    },
  });
}
