// A drift: one thing a ledger has recorded otherwise than its rows say.
import { StaleRecordError } from '../../errors.ts';
import type { Write } from '../database.ts';

export interface Drift {
  readonly what:
    | 'day count'
    | 'category count'
    | 'row keys'
    | 'category of a row'
    | 'name guard'
    | 'sequence';
  readonly where: string;
  readonly recorded: string | number;
  readonly recomputed: string | number;
  /** Undefined where nobody can tell which side is right. Each write holds only while things are as they were seen. */
  readonly mending?: readonly Write[];
}

export function describeDrift({ what, where, recorded, recomputed, mending }: Drift): string {
  const hint = mending ? '' : ' (needs a person to decide)';
  return `${what}, ${where}: recorded ${recorded}, recomputed ${recomputed}${hint}`;
}

export function changedMeanwhile(): StaleRecordError {
  return new StaleRecordError('What was to be mended changed meanwhile');
}
