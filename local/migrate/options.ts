// The options of the migration's command line: what each says, and which field of a function's input it fills.

import { GATES } from '../../lib/migration/phases.ts';
import { ruleOf } from '../../lib/migration/runs/rule-of.ts';
import { ACCEPTABLE, runIdSchema } from '../../lib/migration/runs/run.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly says: string;
  /** Of the function's input; without it, the option is for the command line itself. */
  readonly field?: string;
  readonly isNumber?: true;
  /** How many of the field's units one of the option's has. */
  readonly times?: number;
}

export const OPTIONS = {
  run: {
    ...{ type: 'string', value: 'ID', field: 'runId' },
    says: `the run: ${ruleOf(runIdSchema)}`,
  },
  execute: {
    type: 'boolean',
    says: 'do it; without, only tell what would be done',
    field: 'execute',
  },
  'yes-run': { type: 'string', value: 'ID', says: 'the run again, in place of typing it' },
  source: {
    ...{ type: 'string', value: 'NAME', field: 'sourceCollection' },
    says: 'the collection that the backend works on now',
  },
  'upload-as': {
    ...{ type: 'string', value: 'NAME', field: 'uploadAs' },
    says: 'upload the new collection under this name at the cutover; it keeps its own, unless told',
  },
  'window-minutes': {
    ...{ type: 'string', value: 'N', field: 'windowMinutes', isNumber: true },
    says: 'how long writes may be frozen, 1 to 240 (30)',
  },
  'retention-days': {
    ...{ type: 'string', value: 'N', field: 'retentionDays', isNumber: true },
    says: 'how long a way back is kept, 30 to 3650 (30)',
  },
  accept: {
    ...{ type: 'string', multiple: true, value: 'FINDING', field: 'accepts' },
    says: `a finding to be taken as it is, once for each: ${ACCEPTABLE.join(', ')}`,
  },
  'vector-sample': {
    ...{ type: 'string', value: 'N', field: 'vectorSample', isNumber: true },
    says: 'compare about so many vectors one by one; without, every vector',
  },
  'removes-when-over': {
    ...{ type: 'boolean', field: 'removesWhenOver' },
    says: 'the old collection goes when the way back has ended',
  },
  'removes-artifacts-when-over': {
    ...{ type: 'boolean', field: 'removesArtifactsWhenOver' },
    says: 'snapshots and graph dumps go when the way back has ended; reports stay',
  },
  gate: {
    ...{ type: 'string', value: 'GATE', field: 'gate' },
    says: `what is approved: ${GATES.join(', ')}`,
  },
  evidence: {
    ...{ type: 'string', value: 'DIGEST', field: 'evidenceDigest' },
    says: 'what was looked at: the digest that status shows',
  },
  by: { type: 'string', value: 'NAME', says: 'who approves', field: 'approvedBy' },
  until: {
    ...{ type: 'string', value: 'TIME', field: 'expiresAt' },
    says: 'when the approval expires, like 2026-03-01T10:00:00Z',
  },
  'free-gb': {
    ...{ type: 'string', value: 'N', field: 'freeBytes', isNumber: true, times: 1e9 },
    says: 'how much is free where the store keeps its data, in whole gigabytes',
  },
  'acknowledged-loss': {
    ...{ type: 'string', value: 'N', field: 'acknowledgedLoss', isNumber: true },
    says: 'the exact number of writes that going back loses',
  },
  json: { type: 'boolean', says: 'one JSON object on standard output' },
  help: { type: 'boolean', says: 'this help' },
  stage: {
    ...{ type: 'string', value: 'STAGE' },
    says: 'with the functions of a deployed stage; without, with the services that the environment names',
  },
} as const satisfies Readonly<Record<string, Option>>;

export type OptionName = keyof typeof OPTIONS;

/** Every command takes these. */
export const OF_EVERY_COMMAND = ['json', 'help', 'stage'] as const satisfies OptionName[];
