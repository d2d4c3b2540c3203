// The acts of the rehearsal: what is done in each, and what has to hold at its end. Each begins with a world of its own.
import { fingerprintOf } from '../../lib/migration/proof/fingerprint.ts';
import { startNewVersion } from '../sandbox/memory-backend/new-version.ts';
import { SOURCE, type WorldOptions } from '../sandbox/world.ts';
import { type Rehearsal, RUN, TARGET } from './rehearsal.ts';

export interface Act {
  readonly title: string;
  readonly options?: Partial<WorldOptions>;
  readonly play: (rehearsal: Rehearsal) => Promise<Outcome>;
}

export interface Outcome {
  readonly phase: string;
  /** The collection that users work on now. */
  readonly collection: string;
  readonly points: { readonly before: number; readonly after: number };
  /** Writes to the new version that going back took from users, who were told the number. */
  readonly acknowledgedLoss: number;
  /** Whether what was there before is there now, point by point. */
  readonly isWhole: boolean;
  readonly endedAsMeant: boolean;
}

const NEW_WRITES = 3;

export const ACTS: readonly Act[] = [
  {
    title: 'through to the cutover',
    play: async (rehearsal) => {
      const failure = await rehearsal.migrate();
      return await outcomeOf(rehearsal, failure === undefined, 'live');
    },
  },
  {
    title: 'back before the first write',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await rehearsal.goBack();
      return await outcomeOf(rehearsal, true, 'returned');
    },
  },
  {
    title: `back after ${NEW_WRITES} writes, their loss acknowledged`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await write(rehearsal);
      const refusal = await rehearsal.goBack().catch((error: Error) => error.name);
      await rehearsal.goBack({ acknowledgedLoss: NEW_WRITES });
      const isMeant = refusal === 'RefusedLossNotAcknowledged';
      return await outcomeOf(rehearsal, isMeant, 'returned', NEW_WRITES);
    },
  },
  {
    title: 'back from the snapshot, the old collection being gone',
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await rehearsal.world.services.vectors.deleteCollection(SOURCE);
      await rehearsal.goBack();
      return await outcomeOf(rehearsal, true, 'returned');
    },
  },
  {
    title: 'a new version without its keyword model: the machine goes back by itself',
    options: { hasPreview: false, shortcomings: { noKeywordModel: true } },
    play: async (rehearsal) => {
      const failure = await rehearsal.migrate();
      return await outcomeOf(rehearsal, failure === 'WentBack', 'returned');
    },
  },
  {
    title: 'a store that drops answers: every step is taken again until it is done',
    play: async (rehearsal) => {
      const { qdrant } = rehearsal.world;
      const does = { kind: 'drop' } as const;
      const struck = new Set(['Look']);
      const failure = await rehearsal.migrate(async (state) => {
        if (!struck.has(state)) qdrant.fault({ on: /^(PUT|POST)/, when: 'after', does });
        struck.add(state);
      });
      return await outcomeOf(rehearsal, failure === undefined, 'live');
    },
  },
];

async function write({ world }: Rehearsal): Promise<void> {
  const { vectors: store, clock: now } = world.services;
  const version = await startNewVersion({ store, collection: TARGET, dimensions: 8, now });
  for (let n = 1; n <= NEW_WRITES; n += 1) await version.add('user-1', `A new fact ${n}`);
}

async function outcomeOf(
  { world, before, run }: Rehearsal,
  isMeant: boolean,
  meantPhase: string,
  acknowledgedLoss = 0,
): Promise<Outcome> {
  const { services } = world;
  const collection = await services.setting.read();
  const after = await fingerprintOf(services.vectors, collection);
  const { phase } = await run();
  return {
    phase,
    collection: collection.replace(RUN, '…'),
    points: { before: before.points, after: after.points },
    acknowledgedLoss,
    isWhole: after.digest === before.digest,
    endedAsMeant: isMeant && phase === meantPhase,
  };
}
