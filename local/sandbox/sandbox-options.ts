// The options of npm run sandbox, as a person types them.
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { ruleOf } from '../../lib/migration/runs/rule-of.ts';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { joinedValues } from '../joined-values.ts';
import { firstLine, StartError } from '../start-error.ts';

export interface SandboxOrder {
  readonly memories: number;
  /** The id of the run that the key and the preview are for. */
  readonly run: string;
  readonly isByHand: boolean;
  /** Where the variables are written to. */
  readonly envFile: string | undefined;
}

const MOST_MEMORIES = 100_000;

export const USAGE = `npm run sandbox -- [options]: all that a migration speaks to, on this machine, until Ctrl-C
  --memories N   how many there are to migrate, 1 to ${MOST_MEMORIES} (500)
  --run ID       the id that you will give the run; key and preview are made for it (spring)
  --env FILE     write the variables to a new file, too; it goes with the sandbox
  --by-hand      freeze and deploy yourself, by words typed here; without it a webhook does`;

const OPTIONS = {
  memories: { type: 'string', default: '500' },
  run: { type: 'string', default: 'spring' },
  env: { type: 'string' },
  'by-hand': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @returns undefined where the usage is asked for. @throws StartError */
export function readSandboxOrder(words: readonly string[]): SandboxOrder | undefined {
  const { memories, run, env, help, 'by-hand': isByHand } = valuesOf(words);
  if (help) return undefined;
  if (!v.is(runIdSchema, run)) {
    throw new StartError(`--run is ${ruleOf(runIdSchema)}; not "${run}"`);
  }
  return { memories: memoriesOf(memories), run, isByHand, envFile: env };
}

function valuesOf(words: readonly string[]) {
  try {
    return parseArgs({ args: joinedValues(words), options: OPTIONS }).values;
  } catch (cause) {
    const [sentence] = firstLine(cause).split('. ');
    throw new StartError(`${sentence}; see npm run sandbox -- --help`, { cause });
  }
}

function memoriesOf(text: string): number {
  const memories = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (memories >= 1 && memories <= MOST_MEMORIES) return memories;
  throw new StartError(`--memories is a whole number from 1 to ${MOST_MEMORIES}, not "${text}"`);
}
