// Every key of the migrations' own items, beside the ledgers in the same table.
//
//   whose turn it is             Get    LOCK
//   one run                      Get    RECORD of its run
//   how far a step has come      Get    CHECKPOINT#step of its run
//   what a person has approved   Get    APPROVAL#gate#phase of its run: the way out asks again
//
// A ledger's id holds letters, digits, "_" and "-" only: with "@" in front, no ledger has these keys.
import type { Key } from '../../store/keys.ts';
import type { Command, Gate } from '../phases.ts';
import type { Run } from './run.ts';

export const LOCK_KEY: Key = { pk: '@migration', sk: 'LOCK' };

export function recordKey(runId: string): Key {
  return { pk: runPartition(runId), sk: 'RECORD' };
}

export function checkpointKey(runId: string, step: Command): Key {
  return { pk: runPartition(runId), sk: `CHECKPOINT#${step}` };
}

export function approvalKey({ runId, phase }: Pick<Run, 'runId' | 'phase'>, gate: Gate): Key {
  return { pk: runPartition(runId), sk: `APPROVAL#${gate}#${phase}` };
}

function runPartition(runId: string): string {
  return `@migration#${runId}`;
}
