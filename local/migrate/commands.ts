// The commands of the migration's command line as data; each is one of the deployed functions.
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
import * as start from '../../functions/migration/start.ts';
import * as status from '../../functions/migration/status.ts';
import * as stay from '../../functions/migration/stay.ts';
import * as verify from '../../functions/migration/verify.ts';
import type { Remembering } from '../../lib/migration/runs/remembering.ts';
import type { Services } from '../../lib/migration/services.ts';
import type { OptionName } from './options.ts';

type Handler = (
  payload: unknown,
  context: { readonly getRemainingTimeInMillis: () => number },
) => Promise<unknown>;

/** What a command does without being told to execute, as its help says it. */
export const ACTS = {
  'when told to': 'A dry run without --execute.',
  'at once': 'Acts at once: there is no dry run.',
  'on its record alone': "Changes nothing but the run's record and reports.",
  never: 'Changes nothing.',
} as const;

export type MigrateCommand = CommandForm & (OfRecord | OfServices);

interface CommandForm {
  readonly does: string;
  /** Who gives it in a run that goes as planned. */
  readonly by: 'a person' | 'a person or the state machine' | 'a timer';
  readonly acts: keyof typeof ACTS;
  /** Stops users, or cannot be taken back: asks for the run's id once more. */
  readonly isGrave: boolean;
  readonly needs: readonly OptionName[];
  readonly takes: readonly OptionName[];
  /** The name of the function where it is not the command's. */
  readonly deployedAs?: string;
}

/** Looks up or notes down, and needs no more than the table. */
interface OfRecord {
  readonly uses: 'the record';
  readonly createHandler: (remembering: () => Promise<Remembering>) => Handler;
}

interface OfServices {
  readonly uses: 'all services';
  readonly createHandler: (services: () => Promise<Services>) => Handler;
}

const STEP = {
  by: 'a person or the state machine',
  needs: ['run'],
  uses: 'all services',
} as const satisfies Partial<MigrateCommand>;
const LOOKING = { ...STEP, acts: 'on its record alone', isGrave: false, takes: [] } as const;
const BUILDING = { ...STEP, acts: 'when told to', isGrave: false, takes: ['execute'] } as const;
const GRAVE = { ...BUILDING, isGrave: true, takes: ['execute', 'yes-run'] } as const;
const BY_A_PERSON = { by: 'a person', uses: 'the record' } as const;

/** In the order of the runbook. */
export const COMMANDS = {
  status: {
    ...{ ...LOOKING, ...status, ...BY_A_PERSON, acts: 'never', needs: [], takes: ['run'] },
    does: 'tells where the run stands and what may be done next; of the latest run unless one is named',
  },
  start: {
    ...{ ...BUILDING, ...start, ...BY_A_PERSON, needs: ['run', 'source'] },
    takes: [
      ...([
        'execute',
        'upload-as',
        'window-minutes',
        'retention-days',
        'accept',
        'vector-sample',
        'free-gb',
      ] as const),
      ...(['removes-when-over', 'removes-artifacts-when-over'] as const),
    ],
    does: 'begins a run, whose plan is fixed from then on',
  },
  preflight: {
    ...{ ...LOOKING, ...preflight, takes: ['free-gb'] },
    does: 'looks for what stands in the way',
  },
  backup: {
    ...BUILDING,
    ...backup,
    does: 'keeps counts, snapshot and graph, and restores them for a try',
  },
  rebuild: { ...BUILDING, ...rebuild, does: 'makes the new collection and proves it' },
  copy: { ...BUILDING, ...copy, does: 'copies every memory, or whatever has changed since' },
  verify: { ...LOOKING, ...verify, does: 'proves the new collection equal to the old one' },
  approve: {
    ...{ ...LOOKING, ...approve, ...BY_A_PERSON, acts: 'at once' },
    needs: ['run', 'gate', 'evidence', 'by', 'until'],
    does: 'says that a person has looked at the evidence',
  },
  freeze: { ...GRAVE, ...freeze, does: 'opens the window: writes stop, the deadline counts' },
  cutover: {
    ...GRAVE,
    ...cutover,
    does: 'has the new version take over, tries it, and opens writes',
  },
  rollback: {
    ...{ ...GRAVE, ...rollback, takes: ['execute', 'yes-run', 'acknowledged-loss'] },
    does: 'goes back to the old version',
  },
  stay: {
    ...GRAVE,
    ...stay,
    does: 'calls off a return that has begun: opens writes on the new version',
  },
  abandon: {
    ...{ ...GRAVE, ...abandon, by: 'a person' },
    does: 'gives the run up before the window, and removes what it has built',
  },
  retention: {
    ...GRAVE,
    ...retention,
    does: 'ends the way back when its days are over, never earlier',
  },
  watch: {
    ...{ ...LOOKING, ...retention, by: 'a timer', acts: 'at once', needs: [] },
    deployedAs: 'retention',
    does: 'does what is due by the clock: goes back from a window that has closed, counts and ends the way back',
  },
} as const satisfies Readonly<Record<string, MigrateCommand>>;

export type CommandName = keyof typeof COMMANDS;

export function commandNamed(name: CommandName): MigrateCommand {
  return COMMANDS[name];
}

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
