// Acts that cut over as planned and roll back: without loss, with an acknowledged loss, from a damaged store, and too late.
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { startNewVersion } from '../../memory-backend/new-version.ts';
import { compareHoldings, readHoldings } from '../holdings.ts';
import { captureFailure, type Rehearsal } from '../rehearsal.ts';
import { type Act, createSettings } from './act.ts';

const NEW_WRITES = 2;
/** Number of writes: the new memories, and one deletion. */
const WRITES = NEW_WRITES + 1;
const DAY_MS = 86_400_000;

export const ROLLBACKS: readonly Act[] = [
  {
    title: 'through to the cutover',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      return { phase: 'live' };
    },
  },
  {
    title: 'back before the first write',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await rehearsal.rollBack();
      return { phase: 'copied' };
    },
  },
  {
    title: `back after ${WRITES} writes, none of them lost`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await write(rehearsal);
      const { services, target, rollBack } = rehearsal;
      const holds = await readHoldings(services.vectors, target);
      await rollBack();
      return { phase: 'copied', holds };
    },
  },
  {
    title: 'forward and back three times in one run, users writing in between',
    play: async (rehearsal) => {
      const { expect, migrate, rollBack, services, source, target } = rehearsal;
      let holds = rehearsal.before;
      for (let n = 1; n <= 3; n += 1) {
        await migrate();
        await write(rehearsal);
        const written = await readHoldings(services.vectors, target);
        await rollBack();
        holds = await readHoldings(services.vectors, source);
        const { lost, unexpected } = compareHoldings(written, holds);
        expect(`rollback ${n} has every write`, lost.length + unexpected.length === 0);
      }
      await migrate();
      return { phase: 'live', holds };
    },
  },
  {
    title: `back after the old collection was deleted: ${WRITES} writes are copied to its snapshot`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await write(rehearsal);
      const { parts, services, target, source, note, rollBack } = rehearsal;
      const holds = await readHoldings(services.vectors, target);
      await parts.store.vectors.deleteCollection(source);
      note('the old collection is deleted');
      await rollBack();
      return { phase: 'copied', holds };
    },
  },
  {
    title: `back to the snapshot: ${WRITES} writes left behind as acknowledged`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await write(rehearsal);
      const { expect, rollBack, services, target } = rehearsal;
      const written = await readHoldings(services.vectors, target);
      for (const acknowledgedLoss of [0, WRITES - 1]) {
        const refusal = await captureFailure(rollBack({ toSnapshot: true, acknowledgedLoss }));
        const isRefused = refusal?.name === 'RefusedLossNotAcknowledged';
        expect(`refused with ${acknowledgedLoss} of ${WRITES} acknowledged`, isRefused);
      }
      await rollBack({ toSnapshot: true, acknowledgedLoss: WRITES });
      const { lost, unexpected } = compareHoldings(
        written,
        await readHoldings(services.vectors, target),
      );
      expect(`those ${WRITES} are in the new collection`, lost.length + unexpected.length === 0);
      return { phase: 'copied', acknowledgedLoss: WRITES };
    },
  },
  {
    title: 'back from an emptied new collection: refused, then without its writes',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      const { expect, note, parts, rollBack, services, source, target } = rehearsal;
      const { vectors } = parts.store;
      const all = await readHoldings(services.vectors, target);
      await vectors.deletePoints(target, { ids: [...all.keys()].map((id) => asJsonText(id)) });
      note('all points of the new collection are deleted');
      const refusal = await captureFailure(rollBack());
      expect('refused with the numbers', refusal?.name === 'RefusedMassChange');
      const { lost } = compareHoldings(all, await readHoldings(services.vectors, source));
      expect('the old collection is unchanged', lost.length === 0);
      await rollBack({ asItWas: true });
      return { phase: 'copied' };
    },
  },
  {
    title: 'swapped by upload under another name, and back',
    uploads: true,
    play: async ({ migrate, rollBack, services, uploadAs, before, expect }) => {
      await migrate();
      const { setting, vectors } = services;
      const isNamed = (await setting.read()) === uploadAs;
      const { lost, unexpected } = compareHoldings(before, await readHoldings(vectors, uploadAs));
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

/** Writes like users: adds new memories, and deletes an old one. */
async function write(rehearsal: Rehearsal): Promise<void> {
  const { services, target, before, note } = rehearsal;
  const version = await startNewVersion(createSettings(rehearsal, target));
  for (let n = 1; n <= NEW_WRITES; n += 1) await version.add('user-1', `A new fact ${n}`);
  // Chooses a memory that still exists, because an earlier round may have deleted others.
  const current = await readHoldings(services.vectors, target);
  const removed = [...before.keys()].find((id) => current.has(id)) ?? '';
  await services.vectors.deletePoints(target, { ids: [asJsonText(removed)] });
  note(`users write: ${NEW_WRITES} new memories, 1 deleted`);
}
