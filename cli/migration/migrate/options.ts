// The options of the migration's command line, and the fields of a function's input that they fill.
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { describeRule, personSchema, stepInputSchema } from '../../../lib/migration/runs/input.ts';
import { ACCEPTABLE, planSchema, runIdSchema } from '../../../lib/migration/runs/run.ts';
import { collectionNameSchema } from '../../../lib/migration/steps/preflight.ts';
import { createNumberParser } from '../../../processes/program.ts';

const GIGABYTE = 1e9;
const { windowMinutes, drainSeconds, deploySeconds, retentionDays } = planSchema.entries;
const { deletes, maxRate, acknowledgedLoss, approvedDigest } = stepInputSchema.entries;

export const parseRunId = createParser(runIdSchema);
const parseCollectionName = createParser(collectionNameSchema);

export const OPTIONS = {
  run: createOption(
    'run <id>',
    `run id: ${describeRule(runIdSchema)} (default: the one under way, else the newest live one, else the last)`,
    parseRunId,
  ),
  execute: createOption('execute', 'do it; without this option, only show what would be done'),
  'backend-only': createOption('backend-only', 'check the memory backend alone'),
  yes: createOption('yes', 'confirm without typing the run id, for scripts'),
  source: createOption(
    'source <name>',
    'collection that the backend works on now',
    parseCollectionName,
  ),
  'upload-as': createOption(
    'upload-as <name>',
    'name for the new collection at the cutover',
    parseCollectionName,
  ),
  'in-place': createOption(
    'in-place',
    'add the keyword slot to the active collection, and build no new one (Qdrant 1.18 or later)',
  ),
  'moves-aliases': createOption(
    'moves-aliases',
    'move the aliases of the old collection with the switch, and back with a rollback',
  ),
  'window-minutes': createOption(
    'window-minutes <n>',
    `longest time without writes, ${describeRule(windowMinutes)} (default: 30)`,
    createSchemaNumberParser(windowMinutes),
  ),
  'drain-seconds': createOption(
    'drain-seconds <n>',
    `longest request of the backend, ${describeRule(drainSeconds)} (default: 60)`,
    createSchemaNumberParser(drainSeconds),
  ),
  'deploy-seconds': createOption(
    'deploy-seconds <n>',
    'how long the new version takes to be deployed and tested (default: as in the last window, else 60)',
    createSchemaNumberParser(deploySeconds),
  ),
  'retention-days': createOption(
    'retention-days <n>',
    `days for which rollback is possible, ${describeRule(retentionDays)} (default: 30)`,
    createSchemaNumberParser(retentionDays),
  ),
  accept: createOption(
    'accept <finding>',
    `accept a finding; repeatable: ${ACCEPTABLE.join(', ')}`,
    addFinding,
  ),
  'removes-when-over': createOption(
    'removes-when-over',
    'remove the old collection when the rollback period ends',
  ),
  'removes-artifacts-when-over': createOption(
    'removes-artifacts-when-over',
    'remove the backups when the rollback period ends; reports stay',
  ),
  report: createOption(
    'report <digest>',
    'approve only the report with this digest, as status shows it',
    createParser(approvedDigest),
  ),
  by: createOption(
    'by <name>',
    'who approves or confirms (default: the login name)',
    createParser(personSchema),
  ),
  'free-gb': createOption(
    'free-gb <n>',
    'free disk space of the vector store, in whole gigabytes',
    createNumberParser({ min: 0, max: Math.floor(Number.MAX_SAFE_INTEGER / GIGABYTE) }),
  ),
  deletes: createOption(
    'deletes <n>',
    'accept that users removed or changed up to this many memories (default: 1 %, at least 20)',
    createSchemaNumberParser(deletes),
  ),
  'max-rate': createOption(
    'max-rate <n>',
    `read at most this many points per second from now on: ${describeRule(maxRate)}`,
    createSchemaNumberParser(maxRate),
  ),
  'as-it-was': createOption(
    'as-it-was',
    'return to the old collection as it stands, without the writes since the switch',
  ).conflicts('toSnapshot'),
  'to-snapshot': createOption(
    'to-snapshot',
    'restore the snapshot of the window under a new name, without the writes since',
  ),
  'acknowledged-loss': createOption(
    'acknowledged-loss <n>',
    'with --to-snapshot: leave at most this many writes behind',
    createSchemaNumberParser(acknowledgedLoss),
  ),
  stage: createOption('stage <stage>', 'use the functions of a deployed stage', parseStageName),
  json: createOption('json', 'print JSON objects, one per line'),
} as const;

export type OptionName = keyof typeof OPTIONS;

/**
 * Options as typed, under commander's names: those that the command line reads itself, and any others, which are fields of a
 * function's input
 */
export interface TypedOptions {
  readonly run?: string;
  readonly execute?: true;
  readonly yes?: true;
  readonly report?: string;
  readonly by?: string;
  readonly freeGb?: number;
  readonly asItWas?: true;
  readonly acknowledgedLoss?: number;
  readonly stage?: string;
  readonly backendOnly?: true;
  readonly [field: string]: unknown;
}

/** Fields whose option has another name */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  run: 'runId',
  source: 'sourceCollection',
  accept: 'accepts',
};

/** Options that no function takes */
const COMMAND_LINE_OPTIONS = ['yes', 'report', 'by', 'stage', 'json'];

/** Converts typed options to a function's input. */
export function buildPayload({ freeGb, ...otherOptions }: TypedOptions): Record<string, unknown> {
  const fields = Object.entries(otherOptions).filter(
    ([name]) => !COMMAND_LINE_OPTIONS.includes(name),
  );
  return {
    ...Object.fromEntries(fields.map(([name, value]) => [FIELD_NAMES[name] ?? name, value])),
    ...(freeGb !== undefined && { freeBytes: freeGb * GIGABYTE }),
  };
}

function createOption<Value>(
  flag: string,
  description: string,
  parse?: (text: string, previous: Value) => Value,
) {
  const option = new Option(`--${flag}`, description);
  return parse ? option.argParser(parse) : option;
}

/** Creates a parser that rejects values that the functions would refuse: they count as wrong use */
function createParser<Value>(schema: v.GenericSchema<unknown, Value>) {
  return (text: unknown): Value => {
    const { success, output } = v.safeParse(schema, text);
    if (success) return output;
    throw new InvalidArgumentError(`Use ${describeRule(schema)}.`);
  };
}

function createSchemaNumberParser<Value>(schema: v.GenericSchema<unknown, Value>) {
  return (text: string) => createParser(schema)(/^\d+$/.test(text) ? Number(text) : text);
}

function addFinding(text: string, previous: string[] = []): string[] {
  if (ACCEPTABLE.some((finding) => finding === text)) return [...previous, text];
  throw new InvalidArgumentError(`Use one of ${ACCEPTABLE.join(', ')}.`);
}

function parseStageName(text: string): string {
  if (/^[a-zA-Z0-9-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError('Use the name of a stage, such as prod.');
}
