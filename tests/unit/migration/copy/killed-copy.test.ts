// A copy killed before or after every one of its remote calls, then resumed: the same in the end, nothing twice.
import { expect, test, vi } from 'vitest';
import { COPY_START, type CopySettings, copyPoints } from '../../../../lib/migration/copy/copy.ts';
import { copyDelta, DELTA_START } from '../../../../lib/migration/copy/delta.ts';
import { createPointWriter } from '../../../../lib/migration/copy/point-writer.ts';
import { VERIFICATION_START, verifyCopy } from '../../../../lib/migration/proof/verification.ts';
import {
  type CopyScene,
  createTarget,
  NEW,
  OLD,
  startCopyScene,
  verifyScene,
} from '../../../support/copy-scene.ts';
import { createLife, type Death, type Life, livingStore } from '../../../support/killed-store.ts';
import { point } from '../../../support/vector-stores.ts';

vi.setConfig({ testTimeout: 60_000 });

type Step<Checkpoint> = (
  settings: CopySettings,
  saveCheckpoint: (checkpoint: Checkpoint) => Promise<void>,
  from: Checkpoint,
) => Promise<unknown>;

/** Runs a step to its death at every call, and each time once more to its end. */
async function dieEverywhere<Checkpoint>(
  set: CopyScene,
  step: Step<Checkpoint>,
  start: Checkpoint,
  check: (last: Checkpoint) => Promise<void>,
): Promise<number> {
  const whole = createLife({ at: 0, when: 'before' });
  await check(await live(set, step, start, whole));
  for (let at = 1; at <= whole.calls(); at += 1) {
    for (const when of ['before', 'after'] as const) {
      const survived = await die(set, step, start, { at, when });
      await check(await live(set, step, survived, createLife({ at: 0, when })));
    }
  }
  return whole.calls() * 2;
}

async function die<Checkpoint>(
  set: CopyScene,
  step: Step<Checkpoint>,
  start: Checkpoint,
  death: Death,
): Promise<Checkpoint> {
  let saved = start;
  const dying = live(set, step, start, createLife(death), (checkpoint) => {
    saved = checkpoint;
  });
  await expect(dying).rejects.toMatchObject({ name: 'Killed' });
  return saved;
}

async function live<Checkpoint>(
  { settings, store }: CopyScene,
  step: Step<Checkpoint>,
  from: Checkpoint,
  life: Life,
  onSaved: (checkpoint: Checkpoint) => void = () => undefined,
): Promise<Checkpoint> {
  const living = livingStore(store, life);
  const source = { store: living, collection: OLD };
  const target = { store: living, collection: NEW };
  let last = from;
  // The checkpoint is a remote call, too.
  const save = (checkpoint: Checkpoint) =>
    life.step(async () => {
      last = checkpoint;
      onSaved(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint);
    });
  await step({ ...settings, source, target }, save, from);
  return last;
}

async function withScene(count: number, work: (set: CopyScene) => Promise<void>): Promise<void> {
  const set = await startCopyScene({ count, pageSize: 40 });
  try {
    await work(set);
  } finally {
    await set.sandbox.close();
  }
}

test('a copy', () =>
  withScene(180, async (set) => {
    const deaths = await dieEverywhere(
      set,
      (settings, saveCheckpoint, from) => copyPoints(settings, { saveCheckpoint }, from),
      COPY_START,
      async (last) => {
        expect(last).toMatchObject({ isComplete: true, copied: 180, withText: 176 });
        expect((await verifyScene(set)).faults).toEqual([]);
        await set.store.deleteCollection(NEW);
        await createTarget(set.store);
      },
    );
    // Five pages: each read, each written, each checkpoint saved.
    expect(deaths).toBe(2 * 3 * 5);
  }));

test('a delta pass', () =>
  withScene(100, async (set) => {
    const { store } = set;
    const ids = (await store.scroll(OLD, { limit: 100 })).points.map(({ id }) => id);
    const reset = async () => {
      await store.deleteCollection(NEW);
      await createTarget(store);
      await copyPoints(set.settings, { saveCheckpoint: async () => undefined });
      const strays = [3, 5].map((id) => point(id, '{"data":"deleted at the source"}'));
      const stale = ids.slice(40, 43).map((id) => ({ ...point(0, '{"data":"stale"}'), id }));
      await store.upsert(NEW, [...strays, ...stale], 'upsert');
      await store.deletePoints(NEW, { ids: ids.slice(90, 95) });
    };
    await reset();
    await dieEverywhere(
      set,
      (settings, saveCheckpoint, from) => {
        const writer = createPointWriter({ ...settings, fillsKeywords: true });
        return copyDelta({ ...settings, writer }, { saveCheckpoint }, from);
      },
      DELTA_START,
      async (last) => {
        expect(last.isComplete).toBe(true);
        expect((await verifyScene(set)).faults).toEqual([]);
        await reset();
      },
    );
  }));

test('a verification', () =>
  withScene(120, async (set) => {
    await copyPoints(set.settings, { saveCheckpoint: async () => undefined });
    const { findings } = await verifyScene(set);
    await dieEverywhere(
      set,
      (settings, saveCheckpoint, from) =>
        verifyCopy({ ...settings, vectors: 'all' }, { saveCheckpoint }, from),
      VERIFICATION_START,
      async (last) => expect(last).toEqual({ isComplete: true, nextOffset: null, findings }),
    );
  }));
