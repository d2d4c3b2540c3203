// Late writes: those that a program made to the collection that users have left. They are carried over once traffic is open.
import { changedAt } from '../json/memory-payload.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import type { LateWrites } from '../reconcile-report.ts';
import { wasOpened } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { haveSame } from './comparison.ts';
import { equalise } from './equalise.ts';
import { whyUnreadable } from './return-target.ts';
import type { Facts } from './switch-journal.ts';

/** If the new version never took traffic, a change there that neither version made is corruption. */
export async function carryLateWrites(context: StepContext, to: string): Promise<Facts> {
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
  const isBegun = context.cursor !== undefined;
  if (!isThere || (!isBegun && (await haveSame(context, left, { base: run.base })))) return {};
  const carried = await equalise(context, {
    active: to,
    standby: left,
    walk: 'carried',
    base: 'continued',
    isOfUser: wasOpened(run) ? undefined : isLaterChange,
    users: 'writing',
    onExcess: 'write',
    mode: 'carry',
  });
  const { strays: lateWrites } = carried.report;
  const isLeft = !isForward && lateWrites.overruled + lateWrites.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  return { ...describeLateWrites(name, lateWrites), ...(isLeft && { comparedByHand: live }) };
}

/** Compares the times that mem0 keeps in the payload. */
function isLaterChange(was: ScrolledPoint, is: ScrolledPoint): boolean {
  return changedAt(is.payload) > changedAt(was.payload);
}

export function describeLateWrites(
  name: string,
  { writes, overruled, withheld }: LateWrites,
): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}
