// Services of a process that is killed before or after one of its remote calls: from then on nothing it does arrives.
import type { Services } from '../../../lib/migration/services.ts';
import { watchCalls } from './calls.ts';

export interface Death {
  /** From 1. */
  readonly call: number;
  readonly moment: 'before' | 'after';
}

export class Killed extends Error {
  override readonly name = 'Killed';
}

interface Mortal {
  readonly services: Services;
  /**
   * The deaths that differ to those who come after: before the first call made until now, and after each that may have
   * changed something. After any other, everything outside is as it was after the call before.
   */
  deaths(): Death[];
}

/** @param death of the process; it lives on without one */
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
