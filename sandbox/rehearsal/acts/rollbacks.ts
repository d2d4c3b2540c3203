// Acts that cut over as planned and roll back: without loss, with an acknowledged loss, and too late.
import { isDeepStrictEqual } from 'node:util';
import { asJsonText, canonicalJson, toJsonText } from '../../../lib/migration/json/json-text.ts';
import type { PointId } from '../../../lib/migration/ports/vector-store.ts';
import { startNewVersion } from '../../memory-backend/new-version.ts';
import { compareHoldings, holdingsOf } from '../holdings.ts';
import type { Rehearsal } from '../rehearsal.ts';
import { type Act, failureOf } from './act.ts';

const NEW_WRITES = 2;
/** The new ones, and one that is taken away. */
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
      return { phase: 'rolled-back' };
    },
  },
  {
    title: `back after ${WRITES} writes, none of them lost`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      await write(rehearsal);
      const { services, target, rollBack } = rehearsal;
      const holds = await holdingsOf(services.vectors, target);
      await rollBack();
      return { phase: 'rolled-back', holds };
    },
  },
  {
    title: `back from the snapshot, the old collection being gone: ${WRITES} writes lost as acknowledged`,
    play: async (rehearsal) => {
      await rehearsal.migrate();
      const lines = await write(rehearsal);
      await rehearsal.parts.store.vectors.deleteCollection(rehearsal.source);
      rehearsal.note('somebody deletes the old collection');
      const { expect, rollBack } = rehearsal;
      for (const acknowledgedLoss of [0, WRITES - 1]) {
        const refusal = await failureOf(rollBack({ acknowledgedLoss }));
        const isRefused = refusal?.name === 'RefusedLossNotAcknowledged';
        expect(`refused with ${acknowledgedLoss} of ${WRITES} acknowledged`, isRefused);
      }
      await rollBack({ acknowledgedLoss: WRITES });
      const isExact = isDeepStrictEqual(sorted(await exportOf(rehearsal)), sorted(lines));
      expect(`the export holds exactly those ${WRITES}`, isExact);
      return { phase: 'rolled-back', acknowledgedLoss: WRITES };
    },
  },
  {
    title: 'swapped by upload under a name of its own, and back',
    uploads: true,
    play: async ({ migrate, rollBack, services, uploadAs, before, expect }) => {
      await migrate();
      const { setting, vectors } = services;
      const isNamed = (await setting.read()) === uploadAs;
      const { lost, strange } = compareHoldings(before, await holdingsOf(vectors, uploadAs));
      const isWhole = lost.length + strange.length === 0;
      expect('users work on what was uploaded, and all of it is there', isNamed && isWhole);
      await rollBack();
      return { phase: 'rolled-back' };
    },
  },
  {
    title: 'too late to roll back: the retention has ended',
    play: async ({ migrate, run, pass, keepWatch, rollBack, expect }) => {
      await migrate();
      const { plan, retainUntil = 0 } = await run();
      pass(plan.retentionDays * DAY_MS);
      await keepWatch();
      const refusal = await failureOf(rollBack());
      const day = new Date(retainUntil).toISOString();
      const isRefused =
        refusal?.name === 'RefusedIrreversible' && refusal.message.includes(`ended ${day}`);
      expect(`refused: rollback was possible until ${day}`, isRefused);
      return { phase: 'closed' };
    },
  },
];

/** As users would: new memories, and one of the old ones gone. @returns the lines of the export that it takes */
async function write({ services, target, before, note }: Rehearsal): Promise<string[]> {
  const { vectors: store, clock: now } = services;
  const dimensions = [...before.values()][0]?.vector.length ?? 0;
  const version = await startNewVersion({ store, collection: target, dimensions, now });
  const added: PointId[] = [];
  for (let n = 1; n <= NEW_WRITES; n += 1) {
    added.push(...(await version.add('user-1', `A new fact ${n}`)).map((id) => toJsonText(id)));
  }
  const [removed = ''] = before.keys();
  await store.deletePoints(target, { ids: [asJsonText(removed)] });
  note(`users write: ${added.length} new memories, 1 deleted`);
  const points = await store.retrieve(target, added);
  return [
    ...points.map(
      ({ id, vector, payload }) => `{"id":${id},"vector":${vector},"payload":${payload}}`,
    ),
    `{"id":${removed},"deleted":true}`,
  ];
}

// The keys of a vector come in any order.
function sorted(lines: readonly string[]): string[] {
  return lines.map(canonicalJson).toSorted();
}

async function exportOf({ services, run }: Rehearsal): Promise<string[]> {
  const key = String((await run()).evidence['rollback-report']?.facts.exportedTo);
  const text = Buffer.concat(await Array.fromAsync(services.artifacts.get(key))).toString();
  return text.trimEnd().split('\n');
}
