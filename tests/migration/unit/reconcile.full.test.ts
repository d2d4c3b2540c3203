// A reconciliation that is killed at any of its calls can be resumed.
import { expect, onTestFinished, test } from 'vitest';
import { type ReconcileCheckpoint, reconcile } from '../../../lib/migration/reconcile.ts';
import { listProblems, NOTHING_COMPARED } from '../../../lib/migration/reconcile-report.ts';
import { openWalk, UNINTERRUPTED } from '../../../lib/migration/runs/journal.ts';
import {
  type CopyScene,
  compare,
  createTarget,
  NEW,
  OLD,
  repair,
  startCopyScene,
} from '../support/copy-scene.ts';
import {
  createKillableProcess,
  createKillableStore,
  type KillPoint,
} from '../support/killable-store.ts';
import { createPoint } from '../support/vector-stores.ts';

test('a reconciliation that is killed before or after any of its calls ends the same when it is resumed', async () => {
  const scene = await startCopyScene({ count: 30, pageSize: 20 });
  onTestFinished(scene.sandbox.close);
  const { store, settings } = scene;
  const { points } = await store.scroll(OLD, { limit: 30, vector: false });
  const ids = points.map(({ id }) => id);
  const reset = async () => {
    await store.deleteCollection(NEW);
    await createTarget(store);
    const restored = { ...settings, from: { store, collection: OLD } };
    await reconcile(restored, UNINTERRUPTED);
    const extra = [3, 5].map((id) => createPoint(id, '{"data":"deleted at the source"}'));
    const stale = ids.slice(12, 15).map((id) => ({ ...createPoint(0, '{"data":"stale"}'), id }));
    await store.upsert(NEW, [...extra, ...stale], 'upsert');
    await store.deletePoints(NEW, { ids: ids.slice(24, 27) });
  };
  await reset();
  const expected = (await repair(scene)).from;
  let kills = 0;
  for (let call = 1; ; call += 1) {
    let isOver = false;
    for (const moment of ['before', 'after'] as const) {
      await reset();
      const saved = await killAt(settings, { call, moment });
      if (saved === undefined) isOver = true;
      else {
        kills += 1;
        const { report } = await reconcile(settings, { ...UNINTERRUPTED, cursor: saved });
        expect([listProblems(report), report.to], `${moment} ${call}`).toEqual([[], expected]);
        expect(listProblems(await compare(scene)), `${moment} ${call}`).toEqual([]);
      }
    }
    if (isOver) break;
  }
  expect(kills).toBeGreaterThanOrEqual(30);
});

/** Returns the last checkpoint of a walk that was killed; undefined if the walk ended first. */
async function killAt(
  settings: CopyScene['settings'],
  killPoint: KillPoint,
): Promise<ReconcileCheckpoint | undefined> {
  const process = createKillableProcess(killPoint);
  const store = createKillableStore(settings.from.store, process);
  const from = { ...settings.from, store };
  const to = { ...settings.to, store };
  let saved: ReconcileCheckpoint = { nextOffset: null, report: NOTHING_COMPARED };
  const saveCursor = (checkpoint: ReconcileCheckpoint) =>
    process.track(async () => {
      saved = JSON.parse(JSON.stringify(checkpoint));
    });
  const walk = openWalk({ hasTime: () => true }, { cursor: undefined, saveCursor });
  return await reconcile({ ...settings, from, to }, walk).then(
    () => undefined,
    () => saved,
  );
}
