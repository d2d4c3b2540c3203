// Services of a process that is killed before or after one of its remote calls: from then on nothing it does arrives.
import type { Services } from '../../../lib/migration/services.ts';

export type Moment = 'before' | 'after';

export class Killed extends Error {
  override readonly name = 'Killed';
}

export interface Mortal {
  readonly services: Services;
  /** Calls made until now. */
  calls(): number;
}

const SPOKEN_TO = [
  'runs',
  'lock',
  'confirmations',
  'vectors',
  'artifacts',
  'setting',
  'backend',
  'preview',
  'hooks',
  'graph',
] as const satisfies readonly (keyof Services)[];

/** @param death the number of the call and when; never without it */
export function mortal(
  services: Services,
  death?: { readonly call: number; readonly moment: Moment },
): Mortal {
  let calls = 0;
  let isDead = false;

  function die(): never {
    isDead = true;
    throw new Killed();
  }

  // A stream is over when it has been read to its end.
  async function* dying(stream: AsyncIterable<unknown>) {
    yield* stream;
    die();
  }

  function wrap<Port extends object>(port: Port): Port {
    const entries = Object.entries(port).map(([name, method]) => {
      if (typeof method !== 'function') return [name, method];
      const mortalMethod = (...args: unknown[]) => {
        if (isDead) throw new Killed();
        calls += 1;
        const isLast = calls === death?.call;
        if (isLast && death?.moment === 'before') die();
        const result: unknown = method(...args);
        if (!isLast) return result;
        return result instanceof Promise
          ? result.then(die)
          : dying(result as AsyncIterable<unknown>);
      };
      return [name, mortalMethod];
    });
    return Object.fromEntries(entries) as Port;
  }

  const wrapped = SPOKEN_TO.map((name) => [name, services[name] && wrap(services[name])]);
  return { services: { ...services, ...Object.fromEntries(wrapped) }, calls: () => calls };
}
