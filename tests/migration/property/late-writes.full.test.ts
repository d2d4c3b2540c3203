// A late write, after any of the remote calls between the freeze and the opening of writes, is never lost. In a cutover the write
// is carried over to the new version, or the cutover is refused and users stay on the old version, which has the write. In a
// rollback the write is carried over, or the new collection is kept and named in the report.
import { afterAll, describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import type { Hooks } from '../../../lib/migration/ports/hooks.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { watchCalls } from '../support/calls.ts';
import { computeFingerprint } from '../support/collections.ts';
import { type Migration, RUN } from '../support/migration.ts';
import { createMigrationAt } from '../support/prepared.ts';
import { createPoint } from '../support/vector-stores.ts';

/** A write is tried after every call in `bash .ci/run full`, otherwise after every 20th. */
const STRIDE = process.env.TEST_MODE === 'full' ? 1 : 20;

const CONCURRENCY = 4;

const SMALL = { memories: 6, users: 2, dimensions: 4 };

const KINDS = ['created', 'changed', 'deleted'] as const;

type Kind = (typeof KINDS)[number];

async function writeLate(store: VectorStore, collection: string, kind: Kind): Promise<void> {
  const { points } = await store.scroll(collection, { limit: 1 });
  const [first] = points;
  if (kind === 'deleted' && first) return await store.deletePoints(collection, { ids: [first.id] });
  const late = createPoint(77_777, '{"user_id":"user-1","data":"a late memory"}', '[1,0,0,0]');
  const id = kind === 'changed' && first ? first.id : late.id;
  await store.upsert(collection, [{ ...late, id }], 'upsert');
}

/**
 * Calls `interrupt` once: after remote call number `at` since the freeze, or right before writes are opened if there are fewer
 * calls. For 0 it only counts the calls.
 */
function interruptAt(services: Services, at: number, interrupt: () => Promise<void>) {
  let calls = 0;
  let isFrozen = false;

  async function after(): Promise<void> {
    if (!isFrozen) return;
    calls += 1;
    if (calls === at) await interrupt();
  }

  const ask: Hooks['ask'] = async (request) => {
    // There may be fewer calls than `at`, because the number of polls for a snapshot depends on the store.
    if (request.action === 'open-writes' && calls < at) {
      calls = at;
      await interrupt();
    }
    if (request.action === 'open-writes') isFrozen = false;
    const result = await services.hooks.ask(request);
    if (request.action === 'freeze') isFrozen = true;
    return result;
  };

  const watched = watchCalls({ ...services, hooks: { ask } }, { after });
  return { services: watched, calls: () => calls };
}

async function cutOverOrRollBack(migration: Migration, services: Services): Promise<void> {
  try {
    await migration.finish('cutover', {}, services);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await migration.finish('rollback', { actor: 'machine' });
  }
}

/** Selects the calls after which a write is tried: every STRIDE-th, and the last three. */
function chooseCalls(total: number): number[] {
  const calls = Array.from({ length: total }, (_, n) => n + 1);
  return calls.filter((at) => at % STRIDE === 0 || at > total - 3);
}

async function runForEach(calls: readonly number[], work: (at: number) => Promise<void>) {
  for (let from = 0; from < calls.length; from += CONCURRENCY) {
    await Promise.all(calls.slice(from, from + CONCURRENCY).map(work));
  }
}

describe('a late write', { timeout: 3_600_000 }, () => {
  const outcomes = { live: 0, rolledBack: 0 };
  let total = 0;

  afterAll(() => {
    const writeCount = outcomes.live + outcomes.rolledBack;
    console.log(
      `A late write after ${writeCount} of ${total} calls: ${outcomes.live} carried over, ${outcomes.rolledBack} rolled back, 0 lost`,
    );
  });

  async function cutOverWithWrite(at: number): Promise<void> {
    const migration = await createMigrationAt('copied', SMALL);
    const { vectors, setting } = migration.services;
    const kind = KINDS[at % KINDS.length] ?? 'created';
    let hasWritten = false;
    const { services } = interruptAt(migration.services, at, async () => {
      hasWritten = true;
      await writeLate(vectors, SOURCE, kind);
    });
    await cutOverOrRollBack(migration, services);
    // The number of calls varies, because the lock is renewed more often on a busy computer: this run may have ended before.
    if (!hasWritten) return;
    const { phase } = await migration.runs.read(RUN);
    const sourceContents = await computeFingerprint(vectors, SOURCE);
    const activeContents = await computeFingerprint(vectors, await setting.read());
    const finalPhase = expect.stringMatching(/^(live|copied)$/);
    expect({ phase, contents: activeContents }, `${kind} after call ${at}`).toEqual({
      phase: finalPhase,
      contents: sourceContents,
    });
    outcomes[phase === 'live' ? 'live' : 'rolledBack'] += 1;
  }

  it('is carried over, or users stay on the collection that has it', async () => {
    const undisturbed = await createMigrationAt('copied', SMALL);
    const { services, calls } = interruptAt(undisturbed.services, 0, async () => {});
    await cutOverOrRollBack(undisturbed, services);
    expect((await undisturbed.runs.read(RUN)).phase).toBe('live');
    total = calls();
    const chosenCalls = chooseCalls(total);
    await runForEach(chosenCalls, cutOverWithWrite);
    expect(outcomes.live + outcomes.rolledBack).toBeGreaterThan(0.9 * chosenCalls.length);
  });
});

describe('a late write in a rollback', { timeout: 3_600_000 }, () => {
  const outcomes = { 'carried over': 0, kept: 0 };

  async function rollBack(at: number): Promise<number> {
    const migration = await createMigrationAt('live', SMALL);
    const { vectors } = migration.services;
    const kind = KINDS[at % KINDS.length] ?? 'created';
    let contentsWithWrite: Awaited<ReturnType<typeof computeFingerprint>> | undefined;
    const { services, calls } = interruptAt(migration.services, at, async () => {
      await writeLate(vectors, migration.target, kind);
      contentsWithWrite = await computeFingerprint(vectors, migration.target);
    });
    await migration.finish('rollback', {}, services);
    const { phase, evidence } = await migration.runs.read(RUN);
    expect(phase).toBe('copied');
    if (!contentsWithWrite) return calls();
    const keptCollection = evidence['rollback-report']?.facts.comparedByHand;
    const found = await computeFingerprint(
      vectors,
      keptCollection === undefined ? SOURCE : migration.target,
    );
    expect(found, `${kind} after call ${at}`).toEqual(contentsWithWrite);
    outcomes[keptCollection === undefined ? 'carried over' : 'kept'] += 1;
    return calls();
  }

  it('is carried over, or the new collection is kept', async () => {
    const total = await rollBack(0);
    const chosenCalls = chooseCalls(total);
    await runForEach(chosenCalls, async (at) => void (await rollBack(at)));
    const writeCount = outcomes['carried over'] + outcomes.kept;
    console.log(
      `A late write after ${writeCount} of ${total} calls: ${outcomes['carried over']} carried over, ${outcomes.kept} kept, 0 lost`,
    );
    expect(writeCount).toBeGreaterThan(0.9 * chosenCalls.length);
  });
});
