// A service in use is migrated: users write before every single call to the store, until writes are frozen.
import { expect, it } from 'vitest';
import type { Hooks } from '../../../../lib/migration/adapters/webhook.ts';
import type { PointId, VectorStore } from '../../../../lib/migration/ports/vector-store.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { fingerprintOf } from '../../../support/migration/fingerprint.ts';
import { createMigration, RUN } from '../../../support/migration/migration.ts';
import { point } from '../../../support/vector-stores.ts';

/** Creates, changes and deletes memories in turns. */
function createWriter(store: VectorStore) {
  const own: PointId[] = [];
  let writes = 0;
  let isFrozen = false;

  async function write(): Promise<void> {
    if (isFrozen) return;
    writes += 1;
    const memory = (id: string) =>
      point(
        id,
        JSON.stringify({ user_id: `user-${writes % 3}`, data: `write ${writes}` }),
        '[1,0,0,0,0,0,0,0]',
      );
    const oldest = writes % 4 === 0 ? own.shift() : undefined;
    if (oldest !== undefined) return await store.deletePoints(SOURCE, { ids: [oldest] });
    const fresh = `ffffffff-0000-4000-8000-${String(writes).padStart(12, '0')}`;
    const written = memory(writes % 4 === 3 ? JSON.parse(own.at(-1) ?? '""') : fresh);
    if (!own.includes(written.id)) own.push(written.id);
    await store.upsert(SOURCE, [written], 'upsert');
  }

  return {
    writes: () => writes,
    freeze: () => {
      isFrozen = true;
    },
    writing: new Proxy(store, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          await write();
          return await method.apply(target, args);
        };
      },
    }),
  };
}

it('ends live with every write carried over', async () => {
  const migration = await createMigration();
  const { vectors, hooks } = migration.services;
  const writer = createWriter(vectors);
  const ask: Hooks['ask'] = async (request) => {
    if (request.action === 'freeze') writer.freeze();
    return await hooks.ask(request);
  };
  const busy: Services = { ...migration.services, vectors: writer.writing, hooks: { ask } };
  await migration.start();
  for (const step of ['preflight', 'backup', 'rebuild', 'copy', 'verify'] as const) {
    await migration.finish(step, {}, busy);
  }
  const { facts } = (await migration.runs.read(RUN)).evidence['verification-report'] ?? {};
  expect(facts?.pending).toBeGreaterThan(0);
  await migration.openWindow();
  for (const step of ['freeze', 'backup', 'copy', 'cutover'] as const) {
    await migration.finish(step, {}, busy);
  }
  expect(writer.writes()).toBeGreaterThan(40);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  const before = await fingerprintOf(vectors, SOURCE);
  expect(before.points).toBeGreaterThan(60);
  expect(await fingerprintOf(vectors, migration.target)).toEqual(before);
});
