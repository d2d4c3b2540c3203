// A step that stood still may have lost its lock to another invocation. It checks the lock right before each change, so that
// it changes nothing more. run-lock.test.ts shows that a lost lock stops the step.
import { expect, it } from 'vitest';
import { watchCalls } from '../../support/calls.ts';
import { PASSAGES } from '../../support/passages.ts';

/** Calls to the table of runs, which fail once the lock is lost */
const SEES_LOCK = /^(lock|runs)\./;

/** Changes that do no harm if they are late: reports have keys of their own lease, and settings of the store stay the same. */
const HARMLESS =
  /^artifacts\.|^vectors\.(deleteSnapshot|updateCollection|createPayloadIndex|addSparseVector)$/;

it.each(PASSAGES)(
  '$step $about checks its lock right before each change',
  async ({ step, prepare, input = {} }) => {
    const migration = await prepare();
    const blind: string[] = [];
    let changes = 0;
    let last = '';
    const services = watchCalls(migration.services, {
      before: ({ name, isRead }) => {
        const isChange = !isRead && !SEES_LOCK.test(name) && !HARMLESS.test(name);
        if (isChange) changes += 1;
        if (isChange && !SEES_LOCK.test(last)) blind.push(`${name} after ${last}`);
        last = name;
      },
    });
    await migration.finish(step, input, services);
    expect(blind).toEqual([]);
    expect(changes).toBeGreaterThan(0);
  },
);
