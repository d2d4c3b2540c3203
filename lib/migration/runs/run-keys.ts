// Every key of the migrations' own items, beside the ledgers in the same table.
//
//   who has the lock             Get    LOCK
//   one run                      Get    RECORD of its run
//   how far a step has come      Get    CHECKPOINT#step of its run
//   what a person has confirmed  Get    CONFIRMED#action#epoch of its run
//
// A ledger's id holds letters, digits, "_" and "-" only: with "@" in front, no ledger has these keys.
import type { Key } from '../../store/keys.ts';
import type { Command } from '../phases.ts';
import type { Run } from './run.ts';

export const LOCK_KEY: Key = { pk: '@migration', sk: 'LOCK' };

export function recordKey(runId: string): Key {
  return { pk: runPartition(runId), sk: 'RECORD' };
}

export function checkpointKey(runId: string, step: Command): Key {
  return { pk: runPartition(runId), sk: `CHECKPOINT#${step}` };
}

export function confirmationKey(
  runId: string,
  { action, epoch }: NonNullable<Run['pendingAction']>,
): Key {
  return { pk: runPartition(runId), sk: `CONFIRMED#${action}#${epoch}` };
}

type Occasioned = Pick<Run, 'runId' | 'phase' | 'returningAt'>;

/** The phase, and for a rollback its time: a second rollback asks again for what the first one asked. */
export function occasionOf({ phase, returningAt }: Occasioned): string {
  return phase === 'returning' && returningAt !== undefined ? `${phase}-${returningAt}` : phase;
}

function runPartition(runId: string): string {
  return `@migration#${runId}`;
}
