// Acts in which users or programs write at the wrong time or place, or delete too much. Their writes must not be lost, and
// mistaken deletions must not be copied.
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type { HookAction, Hooks } from '../../../lib/migration/ports/hooks.ts';
import { isRefusal, Refusal } from '../../../lib/migration/refusals.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';
import { startNewVersion } from '../../memory-backend/new-version.ts';
import { startOldVersion } from '../../memory-backend/old-version.ts';
import { compareMemories, type Memories, readMemories } from '../memories.ts';
import { captureFailure, type Rehearsal } from '../rehearsal.ts';
import { type Act, createSettings } from './act.ts';

/** One memory in ten is removed: more than a rollback deletes without confirmation. */
const REMOVED_ONE_IN = 10;
const MAX_UNCONFIRMED_DELETIONS = 20;

export const INCIDENTS: readonly Act[] = [
  {
    title:
      "rolled back from a new collection that lost a tenth: refused as a mass change, then accepted as users' deletions",
    play: async (rehearsal) => {
      const { initialMemories, expect, migrate, rollBack, services, source, target } = rehearsal;
      await migrate();
      const ids = [...initialMemories.keys()];
      const count = Math.max(MAX_UNCONFIRMED_DELETIONS + 1, Math.ceil(ids.length / REMOVED_ONE_IN));
      await remove(rehearsal, target, ids.slice(0, count));
      const refusal = await captureFailure(rollBack());
      const isCounted = refusal instanceof Refusal && refusal.data.deletes === count;
      expect(`refused: it would remove ${count} of ${ids.length}`, isCounted);
      const { lost, unexpected } = compareMemories(
        initialMemories,
        await readMemories(services.vectors, source),
      );
      expect('the old collection is unchanged', lost.length + unexpected.length === 0);
      const secondRefusal = await captureFailure(rollBack({ deletes: count - 1 }));
      expect(`refused with ${count - 1} deletions`, isRefusal(secondRefusal, 'RefusedMassChange'));
      const expectedMemories = await readMemories(services.vectors, target);
      await rollBack({ deletes: count });
      return { phase: 'copied', expectedMemories };
    },
  },
  {
    title: 'rolled back from a deleted new collection: refused, then without its writes',
    play: async (rehearsal) => {
      const { expect, migrate, note, parts, rollBack, target } = rehearsal;
      await migrate();
      await parts.store.vectors.deleteCollection(target);
      note('the new collection is deleted');
      const refusal = await captureFailure(rollBack());
      expect('refused', isRefusal(refusal, 'RefusedMassChange'));
      await rollBack({ asItWas: true });
      return { phase: 'copied' };
    },
  },
  {
    title: 'a new version that accepts writes too early: they are copied to the old collection',
    play: async (rehearsal) => {
      const { expect, migrate, services, target } = rehearsal;
      let expectedMemories: Memories = new Map();
      const writeEarly = async () => {
        const version = await startNewVersion(createSettings(rehearsal, target));
        await version.add('user-1', 'A fact that came early');
        await remove(rehearsal, target, [...rehearsal.initialMemories.keys()].slice(0, 1));
        expectedMemories = await readMemories(services.vectors, target);
      };
      const failure = await migrate({
        services: addWriteAfter(rehearsal, 'deploy-new', writeEarly),
      });
      expect('the machine rolls back by itself', failure?.name === 'RolledBack');
      return { phase: 'copied', expectedMemories };
    },
  },
  {
    title: 'a late write makes the window fail: the next one copies only that write, and succeeds',
    play: async (rehearsal) => {
      const { expect, migrate, run, services, source } = rehearsal;
      const writeLate = async () => {
        const version = await startOldVersion(createSettings(rehearsal, source));
        await version.add('user-1', 'A fact that came late');
      };
      const failure = await migrate({
        services: addWriteAfter(rehearsal, 'deploy-new', writeLate),
      });
      expect('the machine rolls back by itself', failure?.name === 'RolledBack');
      const expectedMemories = await readMemories(services.vectors, source);
      const copied: number[] = [];
      const secondFailure = await migrate({
        onTask: async () => void copied.push(countWritten(await run())),
      });
      expect('the second window is not refused', secondFailure === undefined);
      expect('it copied one memory', Math.max(...copied) === 1);
      return { phase: 'live', expectedMemories };
    },
  },
  {
    title: 'in place: cut over and rolled back twice, with users writing in between',
    isInPlace: true,
    play: async (rehearsal) => {
      const { expect, migrate, rollBack, services, source } = rehearsal;
      for (let n = 1; n <= 2; n += 1) {
        await migrate();
        const newVersion = await startNewVersion(createSettings(rehearsal, source));
        await newVersion.add('user-1', `A fact of window ${n}`);
        await rollBack();
        const oldVersion = await startOldVersion(createSettings(rehearsal, source));
        await oldVersion.add('user-1', `A fact after rollback ${n}`);
      }
      const expectedMemories = await readMemories(services.vectors, source);
      await migrate();
      const withoutKeywords = await services.vectors.count(source, {
        must_not: [{ has_vector: 'bm25' }],
      });
      expect('every memory has its keywords', withoutKeywords === 0);
      return { phase: 'live', expectedMemories };
    },
  },
];

/** Returns the number of points that the last copy wrote or deleted. */
function countWritten({ evidence }: Run): number {
  const { inserted = 0, replaced = 0, deleted = 0 } = evidence['verification-report']?.facts ?? {};
  return Number(inserted) + Number(replaced) + Number(deleted);
}

/** Returns the act's services, with hooks that write once, right after the action is first done. */
function addWriteAfter(
  { services, note }: Rehearsal,
  action: HookAction,
  write: () => Promise<void>,
): Rehearsal['services'] {
  let isWritten = false;
  const hooks: Hooks = {
    async ask(request) {
      const answer = await services.hooks.ask(request);
      if (request.action !== action || answer !== 'done' || isWritten) return answer;
      isWritten = true;
      await write();
      note(`a client writes after ${action}`);
      return answer;
    },
  };
  return { ...services, hooks };
}

async function remove(
  { services, note }: Rehearsal,
  collection: string,
  ids: readonly string[],
): Promise<void> {
  await services.vectors.deletePoints(collection, { ids: ids.map((id) => asJsonText(id)) });
  note(`deleted: ${ids.length}`);
}
