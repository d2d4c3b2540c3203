// The commands of the migration's command line, and the functions that carry them out.
import * as abandon from '../../functions/migration/abandon.ts';
import * as approve from '../../functions/migration/approve.ts';
import * as backup from '../../functions/migration/backup.ts';
import * as copy from '../../functions/migration/copy.ts';
import * as cutover from '../../functions/migration/cutover.ts';
import * as freeze from '../../functions/migration/freeze.ts';
import * as preflight from '../../functions/migration/preflight.ts';
import * as rebuild from '../../functions/migration/rebuild.ts';
import * as retention from '../../functions/migration/retention.ts';
import * as rollback from '../../functions/migration/rollback.ts';
import * as status from '../../functions/migration/status.ts';
import * as stay from '../../functions/migration/stay.ts';
import * as verify from '../../functions/migration/verify.ts';
import type { Remembering } from '../../lib/migration/runs/remembering.ts';
import type { InvocationContext } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import type { OptionName } from './options.ts';

type Handler = (payload: unknown, context: InvocationContext) => Promise<unknown>;

export type MigrationFunction =
  | {
      /** Needs no more than the table with the runs. */
      readonly uses: 'record';
      readonly createHandler: (remembering: () => Promise<Remembering>) => Handler;
    }
  | {
      readonly uses: 'services';
      readonly createHandler: (services: () => Promise<Services>) => Handler;
    };

export const FUNCTION_NAMES = [
  ...(['status', 'approve', 'preflight', 'backup', 'rebuild', 'copy', 'verify'] as const),
  ...(['freeze', 'cutover', 'rollback', 'stay', 'abandon', 'retention'] as const),
] as const;

export type FunctionName = (typeof FUNCTION_NAMES)[number];

export const FUNCTIONS: Readonly<Record<FunctionName, MigrationFunction>> = {
  status: { uses: 'record', ...status },
  approve: { uses: 'record', ...approve },
  preflight: { uses: 'services', ...preflight },
  backup: { uses: 'services', ...backup },
  rebuild: { uses: 'services', ...rebuild },
  copy: { uses: 'services', ...copy },
  verify: { uses: 'services', ...verify },
  freeze: { uses: 'services', ...freeze },
  cutover: { uses: 'services', ...cutover },
  rollback: { uses: 'services', ...rollback },
  stay: { uses: 'services', ...stay },
  abandon: { uses: 'services', ...abandon },
  retention: { uses: 'services', ...retention },
};

export interface MigrateCommand {
  readonly does: string;
  readonly options: readonly OptionName[];
  /** Stops users or cannot be undone: asks for a confirmation first. */
  readonly isConfirmed?: true;
  /** Of another name than the command. */
  readonly function?: FunctionName;
}

/** Every command takes these. */
export const COMMON_OPTIONS = ['run', 'stage', 'json'] as const satisfies OptionName[];

const PLAN_OPTIONS = [
  ...(['source', 'upload-as', 'window-minutes', 'retention-days', 'accept'] as const),
  ...(['vector-sample', 'free-gb', 'removes-when-over', 'removes-artifacts-when-over'] as const),
] as const satisfies OptionName[];

const CONFIRMED = { options: ['execute', 'yes'], isConfirmed: true } as const;

/** In the order of the runbook. */
export const COMMANDS = {
  run: {
    does: 'Drive the whole migration, or continue the one under way',
    options: [...PLAN_OPTIONS, 'yes', 'by'],
  },
  status: { does: 'Show where the run stands and what to do next', options: [] },
  preflight: {
    does: 'Check the prerequisites; with --execute, begin the run',
    options: ['execute', ...PLAN_OPTIONS],
  },
  backup: {
    does: 'Keep counts, snapshot and graph dump, and test their restore',
    options: ['execute'],
  },
  rebuild: { does: 'Create the new collection and prove it', options: ['execute'] },
  copy: {
    does: 'Copy every memory, or what has changed since',
    options: ['execute', 'accept'],
  },
  verify: { does: 'Prove the new collection equal to the old one', options: [] },
  approve: {
    does: 'Approve the evidence',
    options: ['gate', 'evidence', 'by', 'until'],
  },
  freeze: { does: 'Open the maintenance window: writes stop', ...CONFIRMED },
  cutover: { does: 'Switch to the new version, test it, and open writes', ...CONFIRMED },
  rollback: {
    ...{ does: 'Return to the old version', ...CONFIRMED },
    options: ['execute', 'yes', 'acknowledged-loss'],
  },
  stay: { does: 'Call a rollback off: open writes on the new version', ...CONFIRMED },
  abandon: { does: 'Give the run up and remove what it has built', ...CONFIRMED },
  retention: { does: 'End the rollback period when its days are over', ...CONFIRMED },
  watch: {
    does: 'Do what is due by the clock: deadline, retention, reminders',
    options: [],
    function: 'retention',
  },
} as const satisfies Readonly<Record<string, MigrateCommand>>;

export type CommandName = keyof typeof COMMANDS;

export function commandNamed(name: CommandName): MigrateCommand {
  return COMMANDS[name];
}

/** `run` invokes several. */
export function functionOf(name: Exclude<CommandName, 'run'>): FunctionName {
  const { function: other }: MigrateCommand = COMMANDS[name];
  return other ?? (name as FunctionName);
}
