// Acts that cut over as planned and roll back: without loss, with an acknowledged loss, from a damaged store, and too late.
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { startNewVersion } from '../../memory-backend/new-version.ts';
import { compareMemories, readMemories } from '../memories.ts';
import { captureFailure, type Rehearsal } from '../rehearsal.ts';
import { type Act, createSettings } from './act.ts';

const NEW_WRITES = 2;
/** Number of writes: the new memories, and one deletion. */
const WRITES = NEW_WRITES + 1;
const DAY_MS = 86_400_000;

export const ROLLBACKS: readonly Act[] = [
  {
    title: 'forward to the cutover',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      return { phase: 'live' };
    },
  },
  {
    title: 'rolled back before the first write',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await rehearsal.rollBack();
      return { phase: 'copied' };
    },
  },
  {
    title: `rolled back after ${WRITES} writes, none of them lost`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await writeAsUsers(rehearsal);
      const { services, target, rollBack } = rehearsal;
      const expectedMemories = await readMemories(services.vectors, target);
      await rollBack();
      return { phase: 'copied', expectedMemories };
    },
  },
  {
    title: 'cut over and rolled back three times in one run, with users writing in between',
    play: async (rehearsal) => {
      const { expect, migrate, rollBack, services, source, target } = rehearsal;
      let expectedMemories = rehearsal.initialMemories;
      for (let n = 1; n <= 3; n += 1) {
        await migrate();
        await writeAsUsers(rehearsal);
        const written = await readMemories(services.vectors, target);
        await rollBack();
        expectedMemories = await readMemories(services.vectors, source);
        const { lost, unexpected } = compareMemories(written, expectedMemories);
        expect(`rollback ${n} has every write`, lost.length + unexpected.length === 0);
      }
      await migrate();
      return { phase: 'live', expectedMemories };
    },
  },
  {
    title: `rolled back after the old collection was deleted: ${WRITES} writes are copied to its snapshot`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await writeAsUsers(rehearsal);
      const { parts, services, target, source, note, rollBack } = rehearsal;
      const expectedMemories = await readMemories(services.vectors, target);
      await parts.store.vectors.deleteCollection(source);
      note('the old collection is deleted');
      await rollBack();
      return { phase: 'copied', expectedMemories };
    },
  },
  {
    title: `rolled back to the snapshot: ${WRITES} writes left behind as acknowledged`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await writeAsUsers(rehearsal);
      const { expect, rollBack, services, target } = rehearsal;
      const written = await readMemories(services.vectors, target);
      for (const acknowledgedLoss of [0, WRITES - 1]) {
        const refusal = await captureFailure(rollBack({ toSnapshot: true, acknowledgedLoss }));
        const isRefused = refusal?.name === 'RefusedLossNotAcknowledged';
        expect(`refused with ${acknowledgedLoss} of ${WRITES} acknowledged`, isRefused);
      }
      await rollBack({ toSnapshot: true, acknowledgedLoss: WRITES });
      const { lost, unexpected } = compareMemories(
        written,
        await readMemories(services.vectors, target),
      );
      expect(
        `the new collection still has the ${WRITES} writes`,
        lost.length + unexpected.length === 0,
      );
      return { phase: 'copied', acknowledgedLoss: WRITES };
    },
  },
  {
    title: 'rolled back from an emptied new collection: refused, then without its writes',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      const { expect, note, parts, rollBack, services, source, target } = rehearsal;
      const { vectors } = parts.store;
      const all = await readMemories(services.vectors, target);
      await vectors.deletePoints(target, { ids: [...all.keys()].map((id) => asJsonText(id)) });
      note('all points of the new collection are deleted');
      const refusal = await captureFailure(rollBack());
      expect('refused as a mass change', refusal?.name === 'RefusedMassChange');
      const { lost } = compareMemories(all, await readMemories(services.vectors, source));
      expect('the old collection is unchanged', lost.length === 0);
      await rollBack({ asItWas: true });
      return { phase: 'copied' };
    },
  },
  {
    title: 'swapped by upload under another name, and rolled back',
    uploads: true,
    play: async ({ migrate, rollBack, services, uploadAs, initialMemories, expect }) => {
      await migrate();
      const { setting, vectors } = services;
      const isNamed = (await setting.read()) === uploadAs;
      const { lost, unexpected } = compareMemories(
        initialMemories,
        await readMemories(vectors, uploadAs),
      );
      const isWhole = lost.length + unexpected.length === 0;
      expect('users work on the uploaded collection, and it is complete', isNamed && isWhole);
      await rollBack();
      return { phase: 'copied' };
    },
  },
  {
    title: 'too late to roll back: the retention has ended',
    play: async ({ migrate, run, advanceClock, keepWatch, rollBack, expect }) => {
      await migrate();
      const { plan, window } = await run();
      advanceClock(plan.retentionDays * DAY_MS);
      await keepWatch();
      const refusal = await captureFailure(rollBack());
      const day = new Date(window?.retainUntil ?? 0).toISOString();
      const isRefused =
        refusal?.name === 'RefusedNotNow' && refusal.message.includes(`ended at ${day}`);
      expect(`refused: rollback was possible until ${day}`, isRefused);
      return { phase: 'closed' };
    },
  },
];

/** Adds new memories and deletes an old one, as users would. */
async function writeAsUsers(rehearsal: Rehearsal): Promise<void> {
  const { services, target, initialMemories, note } = rehearsal;
  const version = await startNewVersion(createSettings(rehearsal, target));
  for (let n = 1; n <= NEW_WRITES; n += 1) await version.add('user-1', `A new fact ${n}`);
  // Picks a memory that still exists, because an earlier round may have deleted others.
  const current = await readMemories(services.vectors, target);
  const removed = [...initialMemories.keys()].find((id) => current.has(id)) ?? '';
  await services.vectors.deletePoints(target, { ids: [asJsonText(removed)] });
  note(`users write: ${NEW_WRITES} new memories, 1 deleted`);
}
