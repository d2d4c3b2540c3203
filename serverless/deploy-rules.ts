// Rules for deployments, rollbacks and removals that protect a migration and the data. They are checked on the templates.
// docs/ledger/deploy.md explains each refusal.
import type { Phase } from '../lib/migration/phases.ts';
import { SETTINGS } from './migration/settings.ts';
import type { Template } from './template.ts';

/** The run that has the lock of the table, or is live. */
export type ActiveRun =
  | { readonly id: string; readonly phase: Phase | string }
  /** Why the table cannot be read. */
  | { readonly unknown: string };

export interface Situation {
  readonly run: ActiveRun | undefined;
  /** Undefined if nothing is deployed. */
  readonly deployed: Template | undefined;
  /** Undefined if the stage is being removed. */
  readonly next: Template | undefined;
  readonly table: 'absent' | 'of the stack' | 'left over, empty' | 'left over, with data';
  /** The id of the run, or "unknown", that the operator accepts for the deployment. */
  readonly acceptedRun: string;
}

/** Lists the reasons to refuse the change. */
export function reasonsAgainst(situation: Situation): string[] {
  return [
    ...listAccessReasons(situation),
    ...listRunReasons(situation),
    ...listTableReasons(situation),
  ];
}

// Refuses functions without authentication. AUTH is missing in a package of an earlier commit, and open in the stage `local`.
function listAccessReasons({ next }: Situation): string[] {
  const isOpen = (properties: Record<string, unknown>) =>
    readVariables(properties).AUTH !== 'required';
  return next && listProperties(next, 'AWS::Lambda::Function').some(isOpen)
    ? ['Its functions would answer without authentication: deployed stages need auth "required".']
    : [];
}

/** True if a function of the stage may serve a run, which a deployment could then harm. */
export function mayHaveRuns(...templates: readonly (Template | undefined)[]): boolean {
  return templates.some((template) => template && listSettings(template).qdrantUrl);
}

function listRunReasons({ run, deployed, next, acceptedRun }: Situation): string[] {
  if (run === undefined || !mayHaveRuns(deployed, next)) return [];
  if ('unknown' in run) {
    if (acceptedRun === 'unknown') return [];
    return [
      `Cannot read whether a migration run is active: ${run.unknown}. If none is, add --param="deployDuringRun=unknown".`,
    ];
  }
  if (acceptedRun === run.id) return [];
  const whileActive = `while the run ${run.id} is active (phase ${run.phase})`;
  const reasons = [
    ...(next === undefined
      ? [`It would remove the functions and the watchdog ${whileActive}.`]
      : [
          ...listWatchdogReasons({ deployed, next }, whileActive),
          ...listSettingReasons({ deployed, next }, whileActive),
        ]),
    ...(run.phase === 'live' || next === undefined
      ? []
      : [`It would change functions ${whileActive}.`]),
  ];
  return reasons.length === 0
    ? []
    : [...reasons, `Finish the run, or add --param="deployDuringRun=${run.id}".`];
}

interface Change {
  readonly deployed: Template | undefined;
  readonly next: Template;
}

function listWatchdogReasons({ deployed, next }: Change, whileActive: string): string[] {
  if (!mayHaveRuns(next)) {
    return [`It would remove the functions of the migration and its watchdog ${whileActive}.`];
  }
  const [current, planned] = [listSchedules(deployed), listSchedules(next)];
  if (planned.length > 0 && current.every((id) => planned.includes(id))) return [];
  return [`It would disable the watchdog ${whileActive}.`];
}

function listSettingReasons({ deployed, next }: Change, whileActive: string): string[] {
  const after = listSettings(next);
  const current = deployed && listSettings(deployed);
  // If no store was configured, no deployed function serves the run: the command line does.
  const before = current?.qdrantUrl ? current : {};
  const differing = Object.keys(before).filter((name) => after[name] !== before[name]);
  const [changed, omitted] = [true, false].map((isGiven) =>
    differing.filter((name) => Boolean(after[name]) === isGiven).join(', '),
  );
  return [
    ...(changed ? [`It changes ${changed} ${whileActive}.`] : []),
    ...(omitted ? [`It omits ${omitted} ${whileActive}.`] : []),
  ];
}

/** Settings that the migration's functions take from parameters of serverless.yml. */
function listSettings(template: Template): Readonly<Record<string, unknown>> {
  const functions = listProperties(template, 'AWS::Lambda::Function');
  const variables: ReturnType<typeof readVariables> = Object.assign(
    {},
    ...functions.map(readVariables),
  );
  const reserved = functions.find((each) => each.ReservedConcurrentExecutions !== undefined);
  return {
    ...Object.fromEntries(
      Object.entries(SETTINGS).map(([parameter, name]) => [parameter, variables[name]]),
    ),
    reservedConcurrency: reserved?.ReservedConcurrentExecutions,
  };
}

/** Logical names of the watchdog's enabled timers. */
function listSchedules(template: Template | undefined): string[] {
  return Object.entries(template?.Resources ?? {})
    .filter(([id, { Type, Properties }]) => {
      const isSchedule = Type === 'AWS::Events::Rule' && id.startsWith('Watchdog');
      return isSchedule && Properties?.State === 'ENABLED';
    })
    .map(([id]) => id);
}

function listTableReasons({ next, table }: Situation): string[] {
  if (next === undefined || !table.startsWith('left over')) return [];
  return [
    table === 'left over, empty'
      ? 'A table of this name is left over from a first deployment that failed, or from a removed stage, and is empty. Remove it with "npx serverless discard-table", then deploy again.'
      : 'A table of this name is left over from a removed stage and has data. See "A table that is left over" in docs/ledger/deploy.md.',
  ];
}

function listProperties(template: Template, type: string): Record<string, unknown>[] {
  return Object.values(template.Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties = {} }) => Properties);
}

function readVariables(properties: Record<string, unknown>): Record<string, string | undefined> {
  const { Variables = {} } = (properties.Environment ?? {}) as { Variables?: object };
  return Variables as Record<string, string | undefined>;
}
