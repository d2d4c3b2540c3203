// Checks of prerequisites, as data: what each check reads, how the reading is summarized, and the rules that it must meet. All
// checks run together, so that all problems are reported at once, each with the next command.
import { isRetryableFailure, Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { ACCEPTABLE, Run } from '../runs/run.ts';
import type { Services } from '../services.ts';

export interface Problem {
  readonly why: string;
  /** The next command, or the repair */
  readonly remedy: string;
}

/** The result of a check, as the operator sees it and the report contains it */
export interface Prerequisite {
  readonly name: string;
  /** Result in a few words */
  readonly detail: string;
  readonly problems: readonly Problem[];
  /** Result as figures, for the report */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** True if another problem must be solved before this prerequisite can be checked */
  readonly isUnchecked?: true;
}

export interface CheckContext<Needed = Services> {
  readonly services: Needed;
  readonly run: Run;
  /** False in a dry run: the check only reads. */
  readonly mayWrite: boolean;
  /** True if the run will begin and every prerequisite so far is met */
  readonly isBeginning: boolean;
}

export type Acceptable = (typeof ACCEPTABLE)[number];

export interface Rule<Reading> {
  /** Describes each problem in a sentence; empty if there is none. */
  readonly why: (reading: Reading, run: Run) => string | readonly string[] | false | undefined;
  /** The next command, or the repair */
  readonly remedy: string;
  /** The rule is waived if the operator accepts one of these findings. */
  readonly accept?: readonly Acceptable[];
  /** `run`: a problem stops only the run. Otherwise it also stops the checks that need this prerequisite. */
  readonly stops?: 'run';
}

interface CheckDefinition<Reading, Needed> {
  readonly name: string;
  /** False if the service is not configured: the check is then left out. */
  readonly isConfigured?: (services: Needed) => boolean;
  readonly needs?: readonly { readonly name: string }[];
  readonly read: (context: CheckContext<Needed>) => Promise<Reading>;
  readonly detail: (reading: Reading, run: Run) => string;
  readonly facts?: (reading: Reading) => Prerequisite['facts'];
  readonly rules: readonly Rule<Reading>[];
  /** Remedy if the service does not respond */
  readonly unavailableRemedy?: string;
}

/** A check without the type of its reading, so that all checks fit in one list */
export type Check<Needed = Services> = Pick<
  CheckDefinition<unknown, Needed>,
  'name' | 'isConfigured' | 'needs'
> & { readonly run: (context: CheckContext<Needed>) => Promise<CheckResult> };

interface CheckResult {
  readonly found: Prerequisite;
  /** True if the checks that need this one are postponed */
  readonly isBlocking: boolean;
}

const START_IT = 'Start it, or correct its address.';

export function defineCheck<Reading, Needed = Services>(
  check: CheckDefinition<Reading, Needed>,
): Check<Needed> {
  const { name, needs = [], unavailableRemedy = START_IT } = check;

  async function run(context: CheckContext<Needed>): Promise<CheckResult> {
    try {
      const reading = await check.read(context);
      const violations = check.rules.flatMap((rule) => applyRule(rule, reading, context.run));
      const problems = violations.map(({ why, remedy }) => ({ why, remedy }));
      const detail = check.detail(reading, context.run);
      const facts = check.facts?.(reading);
      return {
        found: { name, detail, problems, ...(facts && { facts }) },
        isBlocking: violations.some(({ stops }) => stops !== 'run'),
      };
    } catch (error) {
      const problems = [describeFailure(error, unavailableRemedy)];
      return { found: { name, detail: 'cannot be used', problems }, isBlocking: true };
    }
  }

  return { name, needs, run, ...(check.isConfigured && { isConfigured: check.isConfigured }) };
}

function applyRule<Reading>(
  { why, accept = [], ...rule }: Rule<Reading>,
  reading: Reading,
  run: Run,
) {
  if (accept.some((finding) => run.plan.accepts.includes(finding))) return [];
  const reasons = [why(reading, run) || []].flat();
  return reasons.map((reason) => ({ ...rule, why: reason }));
}

/**
 * Turns a refusal, or a service that does not respond, into a problem. Nothing is retried, because an operator is present.
 * @throws any other error
 */
function describeFailure(error: unknown, unavailableRemedy: string): Problem {
  const failure = translateFailure(error);
  if (failure instanceof Refusal) return { why: failure.why, remedy: failure.remedy };
  if (isRetryableFailure(failure)) return { why: failure.message, remedy: unavailableRemedy };
  throw failure;
}

/** @param checks ordered, each after those that it needs */
export async function runChecks<Needed>(
  checks: readonly Check<Needed>[],
  context: Omit<CheckContext<Needed>, 'isBeginning'>,
): Promise<readonly Prerequisite[]> {
  const results: Prerequisite[] = [];
  const blocking = new Set<string>();
  for (const { name, isConfigured = () => true, needs = [], run } of checks) {
    if (!isConfigured(context.services)) continue;
    const canRun = !needs.some((needed) => blocking.has(needed.name));
    const isBeginning = context.mayWrite && results.every(isMet);
    const result = canRun ? await run({ ...context, isBeginning }) : postpone(name);
    results.push(result.found);
    if (result.isBlocking) blocking.add(name);
  }
  return results;
}

function postpone(name: string): CheckResult {
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
