// A process that is killed before or after one of its remote calls, as a vector store sees it: no further call arrives.
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { Killed } from './killable-services.ts';

export interface KillableProcess {
  /** Counts a remote call, and kills the process at the chosen call. */
  step<Result>(call: () => Promise<Result>): Promise<Result>;
  calls(): number;
}

export interface KillPoint {
  /** Position of the call, from 1; 0 if the process is never killed */
  readonly at: number;
  readonly when: 'before' | 'after';
}

export function createKillableProcess({ at, when }: KillPoint): KillableProcess {
  let calls = 0;
  let isKilled = false;

  async function step<Result>(call: () => Promise<Result>): Promise<Result> {
    if (isKilled) throw new Killed();
    calls += 1;
    if (calls !== at) return call();
    isKilled = true;
    if (when === 'after') await call();
    throw new Killed();
  }

  return { step, calls: () => calls };
}

export function killableStore(store: VectorStore, process: KillableProcess): VectorStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        process.step(() => member.apply(target, parameters) as Promise<unknown>);
    },
  });
}
