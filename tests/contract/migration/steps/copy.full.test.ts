// The copy on a busy service, with wrong vectors, after evidence was renewed, and in the window, where users cannot
// write: it reads every memory five times at most.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import type { Hooks } from '../../../../lib/migration/ports/hooks.ts';
import type { PointId } from '../../../../lib/migration/ports/vector-store.ts';
import { runStep, type Step } from '../../../../lib/migration/runs/step.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { whenAsked } from '../../../support/migration/changed-services.ts';
import { evidenceOf, fingerprintOf } from '../../../support/migration/holdings.ts';
import {
  createMigration,
  type Migration,
  RUN,
  STEPS,
} from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { point } from '../../../support/vector-stores.ts';

const MEMORIES = 60;

const reportOf = (migration: Migration) => evidenceOf(migration, 'verification-report');

/** Of every point of the target. */
async function mangleVectors({ services, target }: Migration): Promise<void> {
  const { points } = await services.vectors.scroll(target, { limit: MEMORIES, vector: true });
  for (const { id, vector, payload } of points) {
    if (!vector) throw new Error('No vector');
    const mangled = vector.replace(/"":\[[^\]]*\]/, '"":[1,0,0,0,0,0,0,0]') as typeof vector;
    await services.vectors.upsert(target, [{ id, vector: mangled, payload }], 'upsert');
  }
}

describe('a comparison', () => {
  it('compares every vector, and repairs those that are wrong', async () => {
    const migration = await migrationAt('copied');
    await mangleVectors(migration);
    await migration.finish('copy');
    const { facts, report } = await reportOf(migration);
    expect(facts).toMatchObject({ points: MEMORIES, replaced: MEMORIES, pending: 0 });
    expect(report).toMatchObject({ faults: [] });
  });
});

const MANY = 600;
/** Samples of pages and vectors, and the memories of the test user. */
const FEW = 450;

it('the window reads every memory at most five times', async () => {
  const migration = await migrationAt('copied', { memories: MANY });
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
  const changes = { vectors: { scroll, retrieve }, hooks: { ask } };
  await migration.finish('cutover', {}, changes);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  expect(read).toBeGreaterThan(4 * MANY);
  expect(read).toBeLessThanOrEqual(5 * MANY + FEW);
});

/** Invokes a step whose time is up after so many pieces of work. */
async function begin({ services }: Migration, step: Step, pieces: number): Promise<void> {
  let left = pieces;
  const timeLeftMs = () => {
    left -= 1;
    return left >= 0 ? 600_000 : 0;
  };
  const result = await runStep(step, services, {
    payload: { runId: RUN, execute: true },
    timeLeftMs,
  });
  expect(result).toMatchObject({ done: false });
}

it('a copy begun into one collection does not go on in the middle of its successor', async () => {
  const migration = await migrationAt('rebuilt', { memories: 600, hasPreview: false });
  await begin(migration, STEPS.copy, 0);
  await migration.follow('rebuild', 'copy');
  expect(await migration.services.vectors.count(migration.target)).toBe(600);
});

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
  const { vectors } = migration.services;
  const writer = createWriter(vectors);
  const freezing = whenAsked(migration, 'freeze', async () => writer.freeze());
  const busy = { vectors: writer.writing, ...freezing };
  await migration.start({}, busy);
  for (const step of ['backup', 'rebuild', 'copy'] as const) {
    await migration.finish(step, {}, busy);
  }
  const copied = await fingerprintOf(vectors, migration.target);
  expect(copied).not.toEqual(await fingerprintOf(vectors, SOURCE));
  await migration.openWindow();
  await migration.finish('cutover', {}, busy);
  expect(writer.writes()).toBeGreaterThan(40);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  const before = await fingerprintOf(vectors, SOURCE);
  expect(before.points).toBeGreaterThan(60);
  expect(await fingerprintOf(vectors, migration.target)).toEqual(before);
});
