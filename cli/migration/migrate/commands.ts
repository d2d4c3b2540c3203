// The commands of the migration's command line, and the functions behind them.
import * as abort from '../../../functions/migration/abort.ts';
import * as backup from '../../../functions/migration/backup.ts';
import * as confirm from '../../../functions/migration/confirm.ts';
import * as copy from '../../../functions/migration/copy.ts';
import * as cutover from '../../../functions/migration/cutover.ts';
import * as preflight from '../../../functions/migration/preflight.ts';
import * as rebuild from '../../../functions/migration/rebuild.ts';
import * as retention from '../../../functions/migration/retention.ts';
import * as rollback from '../../../functions/migration/rollback.ts';
import * as status from '../../../functions/migration/status.ts';
import type { RunRecords } from '../../../lib/migration/runs/run-store.ts';
import type { InvocationContext } from '../../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../../lib/migration/services.ts';
import type { OptionName } from './options.ts';

type Handler = (payload: unknown, context: InvocationContext) => Promise<unknown>;

type MigrationFunction =
  | {
      /** The function needs only the table with the runs. */
      readonly uses: 'record';
      readonly createHandler: (records: () => Promise<RunRecords>) => Handler;
    }
  | {
      readonly uses: 'services';
      readonly createHandler: (services: () => Promise<Services>) => Handler;
    };

export const FUNCTIONS = {
  status: { uses: 'record', ...status },
  confirm: { uses: 'record', ...confirm },
  preflight: { uses: 'services', ...preflight },
  backup: { uses: 'services', ...backup },
  rebuild: { uses: 'services', ...rebuild },
  copy: { uses: 'services', ...copy },
  cutover: { uses: 'services', ...cutover },
  rollback: { uses: 'services', ...rollback },
  abort: { uses: 'services', ...abort },
  retention: { uses: 'services', ...retention },
} as const satisfies Readonly<Record<string, MigrationFunction>>;

export type FunctionName = keyof typeof FUNCTIONS;

export interface MigrateCommand {
  readonly description: string;
  readonly options: readonly OptionName[];
  /** True for a command that stops users or cannot be undone: it asks for a confirmation. */
  readonly needsConfirmation?: true;
}

/** Options that every command accepts */
export const COMMON_OPTIONS = ['run', 'stage', 'json'] as const satisfies OptionName[];

const PLAN_OPTIONS = [
  ...(['source', 'upload-as', 'in-place', 'moves-aliases'] as const),
  ...(['window-minutes', 'drain-seconds'] as const),
  ...(['deploy-seconds', 'retention-days', 'accept', 'free-gb'] as const),
  ...(['removes-when-over', 'removes-artifacts-when-over'] as const),
] as const satisfies OptionName[];

/** All commands, in the order of the runbook. */
export const COMMANDS = {
  run: {
    description: 'Drive the whole migration, or continue the one in progress',
    options: [...PLAN_OPTIONS, 'deletes', 'max-rate', 'report', 'yes', 'by'],
  },
  status: { description: 'Show the state of the run and the next command', options: [] },
  report: {
    description:
      'Write a page about the run and its results: HTML in one file, or on standard output',
    options: [],
  },
  preflight: {
    description: 'Check the prerequisites; with --execute, begin the run',
    options: ['execute', 'backend-only', ...PLAN_OPTIONS, 'max-rate'],
  },
  backup: {
    description: 'Keep a snapshot and a graph dump, and test that they can be restored',
    options: ['execute', 'max-rate'],
  },
  copy: {
    description:
      'Create and prove the new collection; copy every memory, or every change since; compare both, and their searches',
    options: ['execute', 'accept', 'deletes', 'max-rate'],
  },
  cutover: {
    description:
      'The maintenance window: stop writes, switch to the new version, test it, open writes',
    options: ['execute', 'window-minutes', 'deletes', 'max-rate', 'report', 'yes', 'by'],
    needsConfirmation: true,
  },
  rollback: {
    description: 'Return to the old version',
    options: [
      'execute',
      'yes',
      'deletes',
      'max-rate',
      'as-it-was',
      'to-snapshot',
      'acknowledged-loss',
    ],
    needsConfirmation: true,
  },
  confirm: { description: 'Confirm that a manual action is done', options: ['by'] },
  abort: {
    description: 'End the run before the window, and remove what it built',
    options: ['execute', 'yes'],
    needsConfirmation: true,
  },
} as const satisfies Readonly<Record<string, MigrateCommand>>;

export type CommandName = keyof typeof COMMANDS;

export function getCommand(name: CommandName): MigrateCommand {
  return COMMANDS[name];
}
