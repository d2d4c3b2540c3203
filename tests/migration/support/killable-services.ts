// Services of a process that is killed before or after one of its remote calls: none of its later calls arrives.
import type { Services } from '../../../lib/migration/services.ts';
import { type Call, watchCalls } from './calls.ts';

export interface KillPoint {
  /** Position of the call, from 1 */
  readonly call: number;
  readonly moment: 'before' | 'after';
}

export class Killed extends Error {
  override readonly name = 'Killed';
}

interface KillableServices {
  readonly services: Services;
  /**
   * Lists the points at which a kill leaves different states behind: before the first call, and after each call so far that may
   * have changed something. A kill after a read leaves the same state as one after the previous call.
   */
  killPoints(): KillPoint[];
}

/** Returns the services of a process that is killed before the first call for which `isDue` is true. */
export function createServicesKilledBefore(
  services: Services,
  isDue: (call: Call) => boolean,
): Services {
  let isKilled = false;
  return watchCalls(services, {
    before: (call) => {
      isKilled ||= isDue(call);
      if (isKilled) throw new Killed();
    },
  });
}

/** @param killPoint when the process is killed; never by default */
export function createKillableServices(
  services: Services,
  killPoint?: KillPoint,
): KillableServices {
  let isKilled = false;
  const killPoints: KillPoint[] = [{ call: 1, moment: 'before' }];

  function kill(): never {
    isKilled = true;
    throw new Killed();
  }

  const watched = watchCalls(services, {
    before: ({ number, isRead }) => {
      if (isKilled) throw new Killed();
      if (!isRead) killPoints.push({ call: number, moment: 'after' });
      if (number === killPoint?.call && killPoint.moment === 'before') kill();
    },
    after: ({ number }) => {
      if (number === killPoint?.call) kill();
    },
  });
  return { services: watched, killPoints: () => killPoints };
}
