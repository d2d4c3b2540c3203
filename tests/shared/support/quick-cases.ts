// Selects the cases of `npm test`. A file that imports this one runs all of its cases in `bash .ci/run full`, in
// `npm run test:mutants` and when it is run by its path.
import { describe, it } from 'vitest';

/** True in `npm test`. */
export const IS_QUICK = process.env.TEST_MODE === 'quick';

/** Returns every nth case in `npm test`, beginning with the first, and all cases elsewhere. */
export function oneInEvery<Case>(n: number, cases: readonly Case[]): readonly Case[] {
  return IS_QUICK ? cases.filter((_, index) => index % n === 0) : cases;
}

type Body = () => void | Promise<void>;

/** A test that `npm test` leaves out. */
export function itInFull(title: string, body: Body): void {
  if (!IS_QUICK) it(title, body);
}

/** Tests that `npm test` leaves out. */
export function describeInFull(title: string, body: () => void): void {
  if (!IS_QUICK) describe(title, body);
}
