// Moves users from the active collection to the standby one: forward in the cutover, backward in the rollback. Each
// direction has its own list of stages (switch-forward.ts, switch-back.ts); this file holds what both share.
import * as v from 'valibot';
import type { LateWrites } from '../reconcile-report.ts';
import { refusedSchema, wasOpened } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import { type Facts, type passing, passingEntries } from '../runs/stages.ts';
import { moveEntities } from './entities.ts';
import { equalise, readEqualising } from './equalise.ts';
import { isAsBase, isLaterChange } from './equality.ts';
import { waitForAction } from './external-action.ts';
import { returnSchema, whyUnreadable } from './return-target.ts';
import { proveFrozen } from './write-freeze.ts';

export const switchSchema = v.object({
  /** Collection that users move to */
  to: v.string(),
  ...passingEntries,
  /** Plan of a rollback; undefined in a cutover */
  plan: v.optional(returnSchema),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
  /** Time of the first refusal of a rollback that keeps writes frozen */
  failingSince: v.optional(v.number()),
  /** Why writes are opened without a proof. */
  unproved: v.optional(v.string()),
});

export type SwitchState = v.InferOutput<typeof switchSchema>;

export type Advance = Parameters<typeof passing<SwitchState>>[1];

/** From this stage on writes are frozen. */
export function freeze(
  collections: readonly [string, ...string[]],
  { isProved = true } = {},
): Advance {
  return async (context, { reached }, save) => {
    await waitForAction(context, 'freeze', collections[0]);
    if (!isProved) return {};
    return await proveFrozen(context, { collections, reached, save });
  };
}

// Traffic is open. If the new version never took traffic, a change there that neither version made is corruption.
export const carryLateWrites: Advance = async (context, { to, reached }, save) => {
  const { run, services } = context;
  const live = liveCollectionOf(run);
  const isForward = to === live;
  const { vectors } = services;
  const trouble = isForward ? undefined : await whyUnreadable(services, run);
  // Users are back, with everything that could be read.
  if (trouble !== undefined && (await vectors.collectionExists(live)))
    return { comparedByHand: live };
  const left = isForward ? run.plan.sourceCollection : live;
  const isThere = run.base !== undefined && (await vectors.collectionExists(left));
  if (!isThere || (!reached && (await isAsBase(services, run, left)))) return {};
  const carried = await equalise(context, {
    active: to,
    standby: left,
    walk: 'carried',
    base: 'continued',
    isOfUser: wasOpened(run) ? undefined : isLaterChange,
    users: 'writing',
    onExcess: 'write',
    mode: 'carry',
    reached: readEqualising(reached),
    save,
  });
  const { strays: lateWrites } = carried.report;
  const isLeft = !isForward && lateWrites.overruled + lateWrites.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  return { ...lateWriteFacts(name, lateWrites), ...(isLeft && { comparedByHand: live }) };
};

/** Moves the entities, once the memories of both collections are equal. */
export const moveTheirEntities: Advance = async (context, { to, reached }, save) => {
  const { run } = context;
  const live = liveCollectionOf(run);
  return await moveEntities(context, {
    mayLack: to !== live,
    from: to === live ? run.plan.sourceCollection : live,
    // An upload under another name is made from the built collection.
    to: to === live ? run.plan.targetCollection : to,
    reached,
    save,
  });
};

export function lateWriteFacts(name: string, { writes, overruled, withheld }: LateWrites): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}

const PARTS = [
  ['frozen', 'freeze'],
  ['backed-up', 'backup'],
  ['equal', 'copy'],
] as const;

/** Seconds that each repeatable part of a window took, to forecast the next window */
export function measureParts({ passed }: Pick<SwitchState, 'passed'>): Record<string, number> {
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
