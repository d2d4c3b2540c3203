// Services of a process that is killed before or after one of its remote calls: none of its later calls arrives.
import type { Services } from '../../../lib/migration/services.ts';
import { type Call, watchCalls } from './calls.ts';

export interface Death {
  /** Position of the call, from 1 */
  readonly call: number;
  readonly moment: 'before' | 'after';
}

export class Killed extends Error {
  override readonly name = 'Killed';
}

interface Mortal {
  readonly services: Services;
  /**
   * Lists the deaths that leave different states behind: before the first call, and after each call so far that may have
   * changed something. A death after a read leaves the same state as a death after the call before.
   */
  deaths(): Death[];
}

/** Returns the services of a process that is killed before the first call for which `isDue` is true. */
export function createServicesKilledBefore(
  services: Services,
  isDue: (call: Call) => boolean,
): Services {
  let isDead = false;
  return watchCalls(services, {
    before: (call) => {
      isDead ||= isDue(call);
      if (isDead) throw new Killed();
    },
  });
}

/** @param death when the process is killed; never by default */
export function mortal(services: Services, death?: Death): Mortal {
  let isDead = false;
  const deaths: Death[] = [{ call: 1, moment: 'before' }];

  function die(): never {
    isDead = true;
    throw new Killed();
  }

  const watched = watchCalls(services, {
    before: ({ number, isRead }) => {
      if (isDead) throw new Killed();
      if (!isRead) deaths.push({ call: number, moment: 'after' });
      if (number === death?.call && death.moment === 'before') die();
    },
    after: ({ number }) => {
      if (number === death?.call) die();
    },
  });
  return { services: watched, deaths: () => deaths };
}
