// The switch: users move from the collection that they are on, home, to the idle one. Forward it is the cutover, backward the
// rollback. Both take the same stages in the same order, each those that its direction and its purpose need.
import * as v from 'valibot';
import type { Strays } from '../reconcile-report.ts';
import { refusedSchema } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import { type Keep, MORE_TIME, type Stage } from '../runs/stages.ts';
import { waiting } from '../runs/step.ts';
import { restoringSchema } from '../snapshots.ts';
import { backupSchema } from './backup.ts';
import { copyingSchema } from './copy.ts';
import { carryOver, isLaterChange, type Walks, walksSchema } from './equality.ts';
import { isDoneOutside } from './external-action.ts';
import { fillSchema } from './in-place.ts';
import { returnSchema } from './return-target.ts';
import { uploadsSchema } from './upload-swap.ts';
import { lookSchema, proveFrozen } from './write-freeze.ts';

export const switchSchema = v.object({
  /** That users move to. */
  to: v.string(),
  /** The stages that are behind it, and after how many milliseconds of work each had passed. */
  passed: v.record(v.string(), v.number()),
  /** Of a rollback: which way. */
  plan: v.optional(returnSchema),
  restoring: v.optional(restoringSchema),
  backup: v.optional(backupSchema),
  copying: v.optional(copyingSchema),
  filling: v.optional(fillSchema),
  uploads: v.optional(uploadsSchema),
  look: v.optional(lookSchema),
  walks: v.optional(walksSchema),
  /** The backend does not answer, or does not say which version it is. */
  unansweredSince: v.optional(v.number()),
  /** For the report of its end. */
  facts: v.optional(v.record(v.string(), v.union([v.string(), v.number()]))),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
});

export type SwitchState = v.InferOutput<typeof switchSchema>;

export type Advance = Stage<SwitchState>['advance'];

export const DEPLOYED = 'deployed';

/** Nobody writes from here on. */
export function freeze(collections: readonly [string, ...string[]]): Advance {
  return async (context, { look, facts }, keep) => {
    if (!(await isDoneOutside(context, 'freeze', collections[0]))) return waiting('the webhook');
    const remember = async (look: SwitchState['look']) => void (await keep({ look }));
    const proof = await proveFrozen(context, { collections, look, remember });
    return 'done' in proof ? proof : { facts: { ...facts, ...proof } };
  };
}

export function deploy(action: 'deploy-new' | 'deploy-old'): Advance {
  return async (context, { to }) =>
    (await isDoneOutside(context, action, to)) ? {} : waiting('the webhook');
}

// Users are in already. Where they never were in the new version, a change there that no version has made is damage.
export const carryBack: Advance = async (
  context,
  { to, facts = {}, walks: reached = {} },
  keep,
) => {
  const { run } = context;
  const live = liveCollectionOf(run);
  const isForward = to === live;
  const strays = await carryOver(context, {
    from: to,
    to: isForward ? run.plan.sourceCollection : live,
    ...(run.window?.openedAt === undefined && { isOfUser: isLaterChange }),
    reached,
    save: savingWalks(keep),
  });
  if (!strays) return MORE_TIME;
  const isLeft = !isForward && strays.overruled + strays.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  const left = isLeft ? { comparedByHand: live } : {};
  return { facts: { ...facts, ...strayFacts(name, strays), ...left } };
};

export function savingWalks(keep: Keep<SwitchState>) {
  return (walks: Walks, progress: Parameters<typeof keep>[1]) => keep({ walks }, progress);
}

export function strayFacts(name: string, { writes, overruled, withheld }: Strays) {
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
    const at = passed[stage];
    if (at === undefined) break;
    took[part] = (at - begun) / 1_000;
    begun = at;
  }
  return took;
}
