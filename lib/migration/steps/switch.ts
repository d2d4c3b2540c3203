// The switch: users move from the collection that they are on, home, to the idle one. Forward it is the cutover, backward the
// rollback. Each has its own list of stages (switch-forward.ts, switch-back.ts); here is what both lists share.
import * as v from 'valibot';
import type { Strays } from '../reconcile-report.ts';
import { refusedSchema, wasOpened } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import { type Facts, MORE_TIME, type passing, passingEntries } from '../runs/stages.ts';
import { type EntitiesReached, moveEntities } from './entities.ts';
import { carryOver, isLaterChange, walksSchema } from './equality.ts';
import { waitForAction } from './external-action.ts';
import { readabilityOf, returnSchema } from './return-target.ts';
import { proveFrozen } from './write-freeze.ts';

export const switchSchema = v.object({
  /** That users move to. */
  to: v.string(),
  ...passingEntries,
  /** Of a rollback: which way. */
  plan: v.optional(returnSchema),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
  /** A rollback in which nobody can write is refused since then. */
  failingSince: v.optional(v.number()),
  /** Why writes are opened without a proof. */
  unproved: v.optional(v.string()),
});

export type SwitchState = v.InferOutput<typeof switchSchema>;

export type Advance = Parameters<typeof passing<SwitchState>>[1];

/** Nobody writes from here on. */
export function freeze(
  collections: readonly [string, ...string[]],
  { isProved = true } = {},
): Advance {
  return async (context, { reached }, save) => {
    const waits = await waitForAction(context, 'freeze', collections[0]);
    if (waits || !isProved) return waits ?? {};
    return await proveFrozen(context, { collections, reached, save });
  };
}

// Users are in already. Where they never were in the new version, a change there that no version has made is damage.
export const carryBack: Advance = async (context, { to, reached = {} }, save) => {
  const { run } = context;
  const live = liveCollectionOf(run);
  const isForward = to === live;
  const { vectors } = context.services;
  const trouble = isForward ? undefined : await readabilityOf(context.services, run);
  // They are back, and have all that can be read.
  if (trouble !== undefined && (await vectors.collectionExists(live)))
    return { comparedByHand: live };
  const strays = await carryOver(context, {
    from: to,
    to: isForward ? run.plan.sourceCollection : live,
    ...(!wasOpened(run) && { isOfUser: isLaterChange }),
    reached: v.parse(walksSchema, reached),
    save,
  });
  if (!strays) return MORE_TIME;
  const isLeft = !isForward && strays.overruled + strays.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  const left = isLeft ? { comparedByHand: live } : {};
  return { ...strayFacts(name, strays), ...left };
};

/** Moves the entities, once the memories of both collections are equal. */
export const moveTheirEntities: Advance = async (context, { to, reached }, save) => {
  const { run } = context;
  const live = liveCollectionOf(run);
  const moved = await moveEntities(context, {
    mayLack: to !== live,
    from: to === live ? run.plan.sourceCollection : live,
    // An upload under another name is made from the built collection.
    to: to === live ? run.plan.targetCollection : to,
    reached: reached as EntitiesReached | undefined,
    save: async (walked, progress) => void (await save(walked, progress)),
  });
  return moved ?? MORE_TIME;
};

export function strayFacts(name: string, { writes, overruled, withheld }: Strays): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}

const PARTS = [
  ['frozen', 'freeze'],
  ['backed-up', 'backup'],
  ['equal', 'copy'],
] as const;

/** How long the parts of a window took that are repeated in the next one. */
export function secondsOf({ passed }: Pick<SwitchState, 'passed'>): Record<string, number> {
  const took: Record<string, number> = {};
  let begun = 0;
  for (const [stage, part] of PARTS) {
    const end = passed[stage]?.workedMs;
    if (end === undefined) break;
    took[part] = (end - begun) / 1_000;
    begun = end;
  }
  return took;
}
