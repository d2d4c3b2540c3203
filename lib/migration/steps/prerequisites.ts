// A prerequisite of a migration as a row of data: what is read, how it is summarized, and the rules it must pass. One walk
// over the rows finds all problems at once, each with the command that comes next.
import { isRetryableFailure, Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { ACCEPTABLE, Run } from '../runs/run.ts';
import type { Services } from '../services.ts';

export interface Problem {
  readonly why: string;
  /** The next command, or the repair */
  readonly remedy: string;
}

/** The result of a check, as the operator and the report get it */
export interface Prerequisite {
  readonly name: string;
  /** Finding in a few words */
  readonly detail: string;
  readonly problems: readonly Problem[];
  /** The same as figures, for the report */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** True if another problem must be solved before this can be checked */
  readonly isUnchecked?: true;
}

export interface CheckContext<Needed = Services> {
  readonly services: Needed;
  readonly run: Run;
  /** False in a dry run: the check only reads. */
  readonly mayWrite: boolean;
  /** True if every prerequisite so far is met and the run is to begin */
  readonly isBeginning: boolean;
}

export type Acceptable = (typeof ACCEPTABLE)[number];

export interface Rule<Seen> {
  /** Says in a sentence for each culprit what is wrong; empty if nothing is. */
  readonly why: (seen: Seen, run: Run) => string | readonly string[] | false | undefined;
  /** The next command, or the repair */
  readonly remedy: string;
  /** The rule is waived if the operator accepts one of these findings. */
  readonly accept?: readonly Acceptable[];
  /** Severity. `run`: the run alone. Without it, also the checks that need this prerequisite: they wait for the repair. */
  readonly stops?: 'run';
}

interface Row<Seen, Needed> {
  readonly name: string;
  /** Nothing is checked where the service is not configured. */
  readonly isConfigured?: (services: Needed) => boolean;
  readonly needs?: readonly { readonly name: string }[];
  readonly look: (context: CheckContext<Needed>) => Promise<Seen>;
  readonly detail: (seen: Seen, run: Run) => string;
  readonly facts?: (seen: Seen) => Prerequisite['facts'];
  readonly rules: readonly Rule<Seen>[];
  /** Advice for a service that does not answer */
  readonly whenAway?: string;
}

/** A row whose type no longer tells what it sees, so that rows of all kinds stand in one table */
export type Check<Needed = Services> = Pick<
  Row<unknown, Needed>,
  'name' | 'isConfigured' | 'needs'
> & { readonly take: (context: CheckContext<Needed>) => Promise<Taken> };

interface Taken {
  readonly found: Prerequisite;
  /** True if the checks that need this one must wait */
  readonly isBlocking: boolean;
}

const AWAY = 'Start it, or correct its address.';

export function defineCheck<Seen, Needed = Services>(row: Row<Seen, Needed>): Check<Needed> {
  const { name, needs = [], whenAway = AWAY } = row;

  async function take(context: CheckContext<Needed>): Promise<Taken> {
    try {
      const seen = await row.look(context);
      const broken = row.rules.flatMap((rule) => apply(rule, seen, context.run));
      const problems = broken.map(({ why, remedy }) => ({ why, remedy }));
      const detail = row.detail(seen, context.run);
      const facts = row.facts?.(seen);
      return {
        found: { name, detail, problems, ...(facts && { facts }) },
        isBlocking: broken.some(({ stops }) => stops !== 'run'),
      };
    } catch (error) {
      const problems = [describeFailure(error, whenAway)];
      return { found: { name, detail: 'cannot be used', problems }, isBlocking: true };
    }
  }

  return { name, needs, take, ...(row.isConfigured && { isConfigured: row.isConfigured }) };
}

function apply<Seen>({ why, accept = [], ...rule }: Rule<Seen>, seen: Seen, run: Run) {
  if (accept.some((finding) => run.plan.accepts.includes(finding))) return [];
  const whys = [why(seen, run) || []].flat();
  return whys.map((one) => ({ ...rule, why: one }));
}

/**
 * A service that refuses or does not answer is a problem like others: an operator is present, and it is not tried again.
 * @throws any other error
 */
function describeFailure(error: unknown, whenAway: string): Problem {
  const failure = translateFailure(error);
  if (failure instanceof Refusal) return { why: failure.why, remedy: failure.remedy };
  if (isRetryableFailure(failure)) return { why: failure.message, remedy: whenAway };
  throw failure;
}

/** @param checks each after those that it needs */
export async function takeChecks<Needed>(
  checks: readonly Check<Needed>[],
  context: Omit<CheckContext<Needed>, 'isBeginning'>,
): Promise<readonly Prerequisite[]> {
  const found: Prerequisite[] = [];
  const blocking = new Set<string>();
  for (const { name, isConfigured = () => true, needs = [], take } of checks) {
    if (!isConfigured(context.services)) continue;
    const isPossible = !needs.some((needed) => blocking.has(needed.name));
    const isBeginning = context.mayWrite && found.every(isMet);
    const taken = isPossible ? await take({ ...context, isBeginning }) : postpone(name);
    found.push(taken.found);
    if (taken.isBlocking) blocking.add(name);
  }
  return found;
}

function postpone(name: string): Taken {
  const found = { name, detail: 'not checked yet', problems: [], isUnchecked: true } as const;
  return { found, isBlocking: true };
}

export function isMet({ problems, isUnchecked }: Prerequisite): boolean {
  return problems.length === 0 && !isUnchecked;
}

/** @throws Refusal naming every prerequisite that is not met */
export function assertMet(prerequisites: readonly Prerequisite[]): void {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0);
  if (failed.length === 0) return;
  const names = failed.map(({ name }) => name).join(', ');
  throw new Refusal('RefusedPrerequisites', `Not met: ${names}.`);
}
