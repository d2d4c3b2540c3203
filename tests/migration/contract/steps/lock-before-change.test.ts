// A step that stood still may have lost its lock meanwhile, and another invocation goes on. It looks right before each
// change, so that it changes nothing any more; that a lost lock stops it, run-lock.test.ts shows.
import { expect, it } from 'vitest';
import { watchCalls } from '../../support/calls.ts';
import { PASSAGES } from '../../support/passages.ts';

/** Calls that ask the table of runs, which knows who has the lock. */
const SEES_LOCK = /^(lock|runs)\./;

/** Made late, these do no harm: reports have keys of their own lease, and a setting of the store is made again as it is. */
const HARMLESS =
  /^artifacts\.|^vectors\.(deleteSnapshot|updateCollection|createPayloadIndex|addSparseVector)$/;

it.each(PASSAGES)(
  '$step $about makes each change right after it has seen its lock',
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
