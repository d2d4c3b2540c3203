// A process that is killed before or after one of its remote calls, as a vector store sees it: no further call arrives.
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { Killed } from './mortal.ts';

export interface Life {
  /** Counts a remote call, and dies at the chosen call. */
  step<Result>(call: () => Promise<Result>): Promise<Result>;
  calls(): number;
}

export interface Death {
  /** Position of the call, from 1; 0 if the process is never killed */
  readonly at: number;
  readonly when: 'before' | 'after';
}

export function createLife({ at, when }: Death): Life {
  let calls = 0;
  let isDead = false;

  async function step<Result>(call: () => Promise<Result>): Promise<Result> {
    if (isDead) throw new Killed();
    calls += 1;
    if (calls !== at) return call();
    isDead = true;
    if (when === 'after') await call();
    throw new Killed();
  }

  return { step, calls: () => calls };
}

export function livingStore(store: VectorStore, life: Life): VectorStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        life.step(() => member.apply(target, parameters) as Promise<unknown>);
    },
  });
}
