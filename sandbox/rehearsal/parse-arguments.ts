// The options of npm run rehearse.
import { InvalidArgumentError } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { createCommand, createNumberParser } from '../../processes/program.ts';

export interface RehearseOptions {
  readonly memories: number;
  /** Numbers of the acts to play; undefined for all acts. */
  readonly acts: readonly number[] | undefined;
  readonly run: string | undefined;
  readonly readsExisting: boolean;
  readonly mayRedeploy: boolean;
}

const MAX_MEMORIES = 200_000;
const ENVIRONMENT_AND_EXIT_CODES = `
QDRANT_URL, NEO4J_URL and MEMORY_BACKEND_URL each replace a part of the sandbox with a real service: docs/migration/real-stores.md.
Exit code 0: nothing was lost; 1: something was lost, or an act ended in an unexpected phase; 2: could not rehearse.`;

/** @param play runs the rehearsal, or lists the acts */
export function createRehearseCommand(
  titles: readonly string[],
  play: (options: RehearseOptions | 'list') => Promise<void> | void,
) {
  return createCommand(
    'npm run rehearse --',
    'Play the migration forward, backward and with failures.',
  )
    .option(
      '--memories <n>',
      `number of memories to migrate, 1 to ${MAX_MEMORIES}`,
      createNumberParser({ min: 1, max: MAX_MEMORIES }),
      2000,
    )
    .option('--acts <numbers>', 'only these acts, such as 1,4; "list" lists them', (text) =>
      parseActs(text, titles.length),
    )
    .option('--existing-graph', 'NEO4J_URL may hold data: dump it without writing to it')
    .option(
      '--redeploy-backend',
      'redeploy MEMORY_BACKEND_URL several times; its users cannot use it meanwhile',
    )
    .option(
      '--run <id>',
      'id of the run, in the names of everything it creates (default: random; "rehearsal" with a real backend)',
      parseRunId,
    )
    .addHelpText('after', ENVIRONMENT_AND_EXIT_CODES)
    .action(({ memories, acts, run, existingGraph = false, redeployBackend = false }) => {
      if (acts === 'list') return play('list');
      return play({
        memories,
        acts,
        run,
        readsExisting: existingGraph,
        mayRedeploy: redeployBackend,
      });
    });
}

function parseActs(text: string, last: number): number[] | 'list' {
  if (text === 'list') return text;
  const acts = text.split(',').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 0));
  if (acts.every((act) => act >= 1 && act <= last)) return [...new Set(acts)];
  throw new InvalidArgumentError(`Use "list", or numbers from 1 to ${last} such as 1,4.`);
}

function parseRunId(text: string): string {
  if (v.is(runIdSchema, text) && text.startsWith('rehearsal')) return text;
  throw new InvalidArgumentError(
    'Use 4 to 40 lowercase letters, digits or hyphens that begin with "rehearsal".',
  );
}
