// The options of the migration's command line, and the field of a function's input that each fills.
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { personSchema, ruleOf, stepInputSchema } from '../../lib/migration/runs/input.ts';
import { ACCEPTABLE, runIdSchema } from '../../lib/migration/runs/run.ts';
import { collectionNameSchema } from '../../lib/migration/steps/preflight.ts';
import { wholeNumber } from '../../local/processes/program.ts';

const GIGABYTE = 1e9;

export const runId = fitting(runIdSchema);
const collectionName = fitting(collectionNameSchema);

export const OPTIONS = {
  run: option(
    'run <id>',
    `run id: ${ruleOf(runIdSchema)} (default: the one under way, else the newest live one)`,
    runId,
  ),
  execute: option('execute', 'do it; without this option, only show what would be done'),
  yes: option('yes', 'confirm in place of typing the run id, for scripts'),
  source: option('source <name>', 'collection that the backend works on now', collectionName),
  'upload-as': option(
    'upload-as <name>',
    'name for the new collection at the cutover',
    collectionName,
  ),
  'in-place': option(
    'in-place',
    'add the keyword slot to the collection in use, and build no other (Qdrant 1.18 or later)',
  ),
  'window-minutes': option(
    'window-minutes <n>',
    'longest time without writes, 1 to 240 (default: 30)',
    wholeNumber({ min: 1, max: 240 }),
  ),
  'drain-seconds': option(
    'drain-seconds <n>',
    'longest request of the backend, 0 to 900 (default: 60)',
    wholeNumber({ min: 0, max: 900 }),
  ),
  'deploy-seconds': option(
    'deploy-seconds <n>',
    'how long the new version takes to be deployed and tested (default: the last window, else 60)',
    wholeNumber({ min: 0, max: 7_200 }),
  ),
  'retention-days': option(
    'retention-days <n>',
    'days in which rollback is possible, 30 to 3650 (default: 30)',
    wholeNumber({ min: 30, max: 3650 }),
  ),
  accept: option(
    'accept <finding>',
    `accept a finding; repeatable: ${ACCEPTABLE.join(', ')}`,
    findings,
  ),
  'removes-when-over': option(
    'removes-when-over',
    'remove the old collection when the rollback period ends',
  ),
  'removes-artifacts-when-over': option(
    'removes-artifacts-when-over',
    'remove the backups when the rollback period ends; reports stay',
  ),
  report: option(
    'report <digest>',
    'approve only the report with this digest, as status shows it',
    fitting(stepInputSchema.entries.approvedDigest),
  ),
  by: option(
    'by <name>',
    'who approves or confirms (default: the login name)',
    fitting(personSchema),
  ),
  'free-gb': option(
    'free-gb <n>',
    'free disk space of the vector store, in whole gigabytes',
    wholeNumber({ min: 0, max: Math.floor(Number.MAX_SAFE_INTEGER / GIGABYTE) }),
  ),
  deletes: option(
    'deletes <n>',
    'users removed, or changed, at most that many memories (default: 1 %, at least 20)',
    wholeNumber({ min: 0 }),
  ),
  'max-rate': option(
    'max-rate <n>',
    'read at most that many points a second from now on, 20 or more; 0: no limit',
    (text) => fitting(stepInputSchema.entries.maxRate)(/^\d+$/.test(text) ? Number(text) : text),
  ),
  'as-it-was': option(
    'as-it-was',
    'return to the old collection as it stands, without what was written since the switch',
  ),
  'to-snapshot': option(
    'to-snapshot',
    'restore the snapshot of the window under a fresh name, without what was written since',
  ),
  'acknowledged-loss': option(
    'acknowledged-loss <n>',
    'with --to-snapshot: leave at most that many writes behind',
    wholeNumber({ min: 0 }),
  ),
  stage: option('stage <stage>', 'use the functions of a deployed stage', stageName),
  json: option('json', 'print JSON objects, one per line'),
} as const;

export type OptionName = keyof typeof OPTIONS;

/** What was typed, by the names that commander gives the options. */
export interface Typed {
  readonly run?: string;
  readonly execute?: true;
  readonly yes?: true;
  readonly source?: string;
  readonly uploadAs?: string;
  readonly inPlace?: true;
  readonly windowMinutes?: number;
  readonly drainSeconds?: number;
  readonly deploySeconds?: number;
  readonly retentionDays?: number;
  readonly accept?: readonly string[];
  readonly removesWhenOver?: true;
  readonly removesArtifactsWhenOver?: true;
  readonly report?: string;
  readonly by?: string;
  readonly freeGb?: number;
  readonly deletes?: number;
  readonly maxRate?: number;
  readonly asItWas?: true;
  readonly toSnapshot?: true;
  readonly acknowledgedLoss?: number;
  readonly stage?: string;
  readonly json?: true;
}

/** The fields of a function's input. */
export function payloadOf(typed: Typed): Record<string, unknown> {
  const { run, execute, source, accept, freeGb } = typed;
  const { uploadAs, inPlace, windowMinutes, retentionDays, acknowledgedLoss } = typed;
  const { drainSeconds, deploySeconds, removesWhenOver, removesArtifactsWhenOver } = typed;
  const { deletes, maxRate, asItWas, toSnapshot } = typed;
  const payload = {
    runId: run,
    execute,
    sourceCollection: source,
    uploadAs,
    inPlace,
    windowMinutes,
    retentionDays,
    drainSeconds,
    deploySeconds,
    accepts: accept,
    removesWhenOver,
    removesArtifactsWhenOver,
    freeBytes: freeGb === undefined ? undefined : freeGb * GIGABYTE,
    acknowledgedLoss,
    deletes,
    maxRate,
    asItWas,
    toSnapshot,
  };
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
}

function option<Value>(
  flag: string,
  description: string,
  parse?: (text: string, previous: Value) => Value,
) {
  const made = new Option(`--${flag}`, description);
  return parse ? made.argParser(parse) : made;
}

/** What the functions would refuse is wrong use already. */
function fitting<Value>(schema: v.GenericSchema<unknown, Value>) {
  return (text: unknown): Value => {
    const { success, output } = v.safeParse(schema, text);
    if (success) return output;
    throw new InvalidArgumentError(`Use ${ruleOf(schema)}.`);
  };
}

function findings(text: string, previous: string[] = []): string[] {
  if (ACCEPTABLE.some((finding) => finding === text)) return [...previous, text];
  throw new InvalidArgumentError(`Use one of ${ACCEPTABLE.join(', ')}.`);
}

function stageName(text: string): string {
  if (/^[a-zA-Z0-9-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError('Use the name of a stage, such as prod.');
}
