// The options of npm run rehearse, as a person types them.
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { joinedValues } from '../joined-values.ts';
import { firstLine, StartError } from '../start-error.ts';

export interface Orders {
  readonly memories: number;
  /** Numbers of the acts to be played; all without. */
  readonly acts: readonly number[] | undefined;
  readonly run: string | undefined;
  readonly readsExisting: boolean;
  readonly mayRedeploy: boolean;
}

const MOST_MEMORIES = 100_000;

export const USAGE = `npm run rehearse -- [options]: plays the migration forwards, back and broken
  --memories N         how many there are to migrate, 1 to ${MOST_MEMORIES} (2000)
  --acts 1,4           only these acts; --acts list tells which there are
  --existing-graph     NEO4J_URL may hold something: dump it as it is, write nothing to it
  --redeploy-backend   MEMORY_BACKEND_URL may be taken from its users and deployed anew, several times
  --run ID             the run's id, in the names of everything it makes (made up; "rehearsal" with a real backend)
QDRANT_URL, NEO4J_URL and MEMORY_BACKEND_URL each put the real service in the sandbox's place: docs/real-stores.md.
Exit code 0: nothing was lost; 1: something was, or an act ended otherwise than meant; 2: could not rehearse.`;

const OPTIONS = {
  memories: { type: 'string', default: '2000' },
  acts: { type: 'string' },
  run: { type: 'string' },
  'existing-graph': { type: 'boolean', default: false },
  'redeploy-backend': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @returns what to tell instead, where that is asked for. @throws StartError */
export function readOrders(
  words: readonly string[],
  titles: readonly string[],
): Orders | { readonly tells: string } {
  const values = valuesOf(words);
  if (values.help) return { tells: USAGE };
  if (values.acts === 'list') {
    return { tells: titles.map((title, n) => `${String(n + 1).padStart(2)}  ${title}`).join('\n') };
  }
  return {
    memories: memoriesOf(values.memories),
    acts: values.acts === undefined ? undefined : actsOf(values.acts, titles.length),
    run: runOf(values.run),
    readsExisting: values['existing-graph'],
    mayRedeploy: values['redeploy-backend'],
  };
}

function valuesOf(words: readonly string[]) {
  try {
    return parseArgs({ args: joinedValues(words), options: OPTIONS }).values;
  } catch (cause) {
    throw new StartError(`${firstLine(cause).split('. ')[0]}; see npm run rehearse -- --help`, {
      cause,
    });
  }
}

function memoriesOf(text: string): number {
  const memories = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (memories >= 1 && memories <= MOST_MEMORIES) return memories;
  throw new StartError(`--memories is a whole number from 1 to ${MOST_MEMORIES}, not "${text}"`);
}

function actsOf(text: string, last: number): number[] {
  const acts = text.split(',').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 0));
  if (acts.every((act) => act >= 1 && act <= last)) return [...new Set(acts)];
  throw new StartError(`--acts is "list", or numbers from 1 to ${last} like 1,4, not "${text}"`);
}

function runOf(text: string | undefined): string | undefined {
  if (text === undefined || (v.is(runIdSchema, text) && text.startsWith('rehearsal'))) return text;
  throw new StartError(
    `--run begins with "rehearsal" and has small letters, digits and dashes, 4 to 40, not "${text}"`,
  );
}
