// Limits how many points a walk can remove or change, so that a mistake in one collection, such as emptying it, is not repeated
// in the other. Removals and changes are counted before they are made.
import { Refusal, type RefusalData } from './refusals.ts';

/** Changes that a walk would make to a collection */
export interface Changes {
  readonly removes: number;
  readonly changes: number;
  /** Points in the collection before the changes */
  readonly points: number;
}

const POINTS_PER_REMOVAL = 100;
const MIN_LIMIT = 20;

/** Limits removed or changed points to the operator's number, by default 1 % of all points. */
export function computeLimit({ points }: Pick<Changes, 'points'>, operatorLimit?: number): number {
  return operatorLimit ?? Math.max(MIN_LIMIT, Math.floor(points / POINTS_PER_REMOVAL));
}

export function isExcessive(changes: Changes, operatorLimit?: number): boolean {
  const limit = computeLimit(changes, operatorLimit);
  const isEmptied = changes.points > 0 && changes.removes === changes.points;
  if (isEmptied && operatorLimit === undefined) return true;
  return changes.removes > limit || changes.changes > Math.max(limit, computeLimit(changes));
}

/** @throws Refusal if the walk would remove or change more than expected */
export function assertExpected(changes: Changes, collection: string, operatorLimit?: number): void {
  if (!isExcessive(changes, operatorLimit)) return;
  const { removes, changes: changedPoints, points } = changes;
  const effect = `remove ${removes} of ${points} points of ${collection} and change ${changedPoints}`;
  const limit = `at most ${computeLimit(changes, operatorLimit)} are expected`;
  throw refuseMassChange(`This would ${effect}; ${limit}.`, {
    deletes: Math.max(removes, changedPoints),
  });
}

export function refuseMassChange(why: string, data: RefusalData = {}): Refusal {
  return new Refusal('RefusedMassChange', why, { data });
}
