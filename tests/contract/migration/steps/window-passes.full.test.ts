// Users cannot write in the window: it reads every memory five times at most, whatever there are of them.
import { expect, it } from 'vitest';
import type { Hooks } from '../../../../lib/migration/adapters/webhook.ts';
import type { VectorStore } from '../../../../lib/migration/ports/vector-store.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

const MEMORIES = 600;
/** Samples of pages and vectors, and the memories of the test user. */
const FEW = 450;

it('the window reads every memory at most five times', async () => {
  const migration = await migrationAt('verified', { memories: MEMORIES });
  const { vectors, hooks } = migration.services;
  let read = 0;
  let isWindow = false;
  const scroll: VectorStore['scroll'] = async (...request) => {
    const page = await vectors.scroll(...request);
    if (isWindow) read += page.points.length;
    return page;
  };
  const retrieve: VectorStore['retrieve'] = async (...request) => {
    const points = await vectors.retrieve(...request);
    if (isWindow) read += points.length;
    return points;
  };
  const ask: Hooks['ask'] = async (request) => {
    if (request.action === 'freeze') isWindow = true;
    if (request.action === 'open-writes') isWindow = false;
    return await hooks.ask(request);
  };
  const services = {
    ...migration.services,
    vectors: { ...vectors, scroll, retrieve },
    hooks: { ask },
  };
  for (const step of ['freeze', 'backup', 'copy', 'cutover'] as const) {
    await migration.finish(step, {}, services);
  }
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  expect(read).toBeGreaterThan(4 * MEMORIES);
  expect(read).toBeLessThanOrEqual(5 * MEMORIES + FEW);
});
