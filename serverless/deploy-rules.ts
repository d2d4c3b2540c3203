// Rules for deployments, rollbacks and removals that protect a migration and the data. They compare the deployed template with
// the next one. docs/ledger/deploy.md explains each refusal.
import type { Phase } from '../lib/migration/phases.ts';
import { SETTINGS } from './migration/settings.ts';
import type { Template } from './template.ts';

/** The migration run that holds the table's lock, or is live. */
export type ActiveRun =
  | { readonly id: string; readonly phase: Phase | string }
  | { readonly whyUnreadable: string };

export interface Situation {
  readonly run: ActiveRun | undefined;
  /** Undefined if nothing is deployed. */
  readonly deployed: Template | undefined;
  /** Undefined if the stage is being removed. */
  readonly next: Template | undefined;
  readonly table: 'absent' | 'part of the stack' | 'left over, empty' | 'left over, with data';
  /** Id of the run during which the operator deploys anyway; "unknown" if the table cannot be read. */
  readonly acceptedRun: string;
}

export function listRefusalReasons(situation: Situation): string[] {
  return [
    ...listAccessReasons(situation),
    ...listRunReasons(situation),
    ...listTableReasons(situation),
  ];
}

// Refuses functions without authentication. AUTH is missing in a package of an earlier commit, and open in the stage `local`.
function listAccessReasons({ next }: Situation): string[] {
  const lacksAuthentication = (properties: Record<string, unknown>) =>
    readVariables(properties).AUTH !== 'required';
  return next && listProperties(next, 'AWS::Lambda::Function').some(lacksAuthentication)
    ? ['The new template has functions without authentication: set auth to "required".']
    : [];
}

/** True if a template has the functions of the migration, which a run may need. */
export function mayHaveRuns(...templates: readonly (Template | undefined)[]): boolean {
  return templates.some((template) => template && readSettings(template).qdrantUrl);
}

function listRunReasons({ run, deployed, next, acceptedRun }: Situation): string[] {
  if (run === undefined || !mayHaveRuns(deployed, next)) return [];
  if ('whyUnreadable' in run) {
    if (acceptedRun === 'unknown') return [];
    return [
      `Cannot read whether a migration run is active: ${run.whyUnreadable}. If none is, add --param="deployDuringRun=unknown".`,
    ];
  }
  if (acceptedRun === run.id) return [];
  const whileActive = `while the run ${run.id} is active (phase ${run.phase})`;
  const reasons = [
    ...(next === undefined
      ? [`The removal deletes the functions and the watchdog ${whileActive}.`]
      : [
          ...listWatchdogReasons({ deployed, next }, whileActive),
          ...listSettingReasons({ deployed, next }, whileActive),
        ]),
    ...(run.phase === 'live' || next === undefined
      ? []
      : [`The new template changes functions ${whileActive}.`]),
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
    return [`The new template lacks the migration's functions and watchdog ${whileActive}.`];
  }
  const [currentIds, plannedIds] = [listSchedules(deployed), listSchedules(next)];
  if (plannedIds.length > 0 && currentIds.every((id) => plannedIds.includes(id))) return [];
  return [`The new template disables the watchdog ${whileActive}.`];
}

function listSettingReasons({ deployed, next }: Change, whileActive: string): string[] {
  const nextSettings = readSettings(next);
  const currentSettings = deployed && readSettings(deployed);
  // Without a configured store, no deployed function takes part in the run: the command line drives it.
  const deployedSettings = currentSettings?.qdrantUrl ? currentSettings : {};
  const differingNames = Object.keys(deployedSettings).filter(
    (name) => nextSettings[name] !== deployedSettings[name],
  );
  const changedNames = differingNames.filter((name) => nextSettings[name]).join(', ');
  const omittedNames = differingNames.filter((name) => !nextSettings[name]).join(', ');
  return [
    ...(changedNames ? [`The new template changes ${changedNames} ${whileActive}.`] : []),
    ...(omittedNames ? [`The new template omits ${omittedNames} ${whileActive}.`] : []),
  ];
}

/** Reads the settings that the migration's functions take from parameters of serverless.yml. */
function readSettings(template: Template): Readonly<Record<string, unknown>> {
  const functions = listProperties(template, 'AWS::Lambda::Function');
  const variables: ReturnType<typeof readVariables> = Object.assign(
    {},
    ...functions.map(readVariables),
  );
  const limitedFunction = functions.find((each) => each.ReservedConcurrentExecutions !== undefined);
  return {
    ...Object.fromEntries(
      Object.entries(SETTINGS).map(([parameter, name]) => [parameter, variables[name]]),
    ),
    reservedConcurrency: limitedFunction?.ReservedConcurrentExecutions,
  };
}

/** Lists the logical names of the watchdog's enabled schedules. */
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
