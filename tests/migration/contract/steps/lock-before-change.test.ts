// A step that was paused may have lost its lock to another invocation. It checks the lock right before each change, so that it
// does not interfere. run-lock.test.ts shows that a lost lock stops the step.
import { expect, it } from 'vitest';
import { oneInEvery } from '../../../shared/support/quick-cases.ts';
import { watchCalls } from '../../support/calls.ts';
import { STEP_CASES } from '../../support/step-cases.ts';

/** Calls to the table of runs, which fail once the lock is lost */
const CHECKS_LOCK = /^(lock|runs)\./;

/** Changes that do no harm if they are late: each lease writes its own artifacts, and the store's settings stay the same. */
const HARMLESS =
  /^artifacts\.|^vectors\.(deleteSnapshot|updateCollection|createPayloadIndex|addSparseVector)$/;

it.each(oneInEvery(3, STEP_CASES))(
  '$step $situation checks its lock right before each change',
  async ({ step, prepare, input = {} }) => {
    const migration = await prepare();
    const uncheckedChanges: string[] = [];
    let changes = 0;
    let previous = '';
    const services = watchCalls(migration.services, {
      before: ({ name, isRead }) => {
        const isChange = !isRead && !CHECKS_LOCK.test(name) && !HARMLESS.test(name);
        if (isChange) changes += 1;
        if (isChange && !CHECKS_LOCK.test(previous))
          uncheckedChanges.push(`${name} after ${previous}`);
        previous = name;
      },
    });
    await migration.finish(step, input, services);
    expect(uncheckedChanges).toEqual([]);
    expect(changes).toBeGreaterThan(0);
  },
);
