// What was typed, as an order.
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { isArtifactKey } from '../../lib/migration/ports/artifacts.ts';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { WrongUseError } from '../migrate/typed-values.ts';
import { firstLine } from '../start-error.ts';

export type RestoreOrder =
  | { readonly run: string }
  | {
      /** What its keys begin with. */
      readonly dump: string;
      readonly isMeant: boolean;
    };

export const USAGE = `npm run restore-graph -- --run ID | --dump DUMP [--execute] [--json]
  --run ID     lists the graph dumps of that run, the latest first
  --dump DUMP  reads that dump through, and looks at the graph of NEO4J_URL
  --execute    restores it there: into an empty graph only
  --json       one JSON object on standard output
Exit code 0: done, or a dry run; 1: failed, or the graph differs from its dump; 2: wrong use; 3: refused.`;

const flag = { type: 'boolean', default: false } as const;
const OPTIONS = {
  run: { type: 'string' },
  dump: { type: 'string' },
  execute: flag,
  json: flag,
  help: { ...flag, short: 'h' },
} as const;

/** @throws WrongUseError */
export function readOrder(words: readonly string[]): RestoreOrder | 'help' {
  const { run, dump, execute, help } = valuesOf(words);
  if (help) return 'help';
  if (run !== undefined && dump === undefined && !execute) {
    if (v.is(runIdSchema, run)) return { run };
    throw new WrongUseError('--run is the id of a run.');
  }
  if (dump !== undefined && run === undefined) {
    if (isArtifactKey(dump)) return { dump, isMeant: execute };
    throw new WrongUseError('--dump is like RUN/graph-12: --run lists those of a run.');
  }
  throw new WrongUseError('Either --run, which lists the dumps of a run, or --dump is needed.');
}

function valuesOf(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS }).values;
  } catch (error) {
    throw new WrongUseError(firstLine(error), { cause: error });
  }
}
