// The options of npm run sandbox.
import { InvalidArgumentError } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { describeRule } from '../lib/migration/runs/input.ts';
import { runIdSchema } from '../lib/migration/runs/run.ts';
import { createCommand, createNumberParser } from '../processes/program.ts';

export interface SandboxOptions {
  readonly memories: number;
  /** Id of the run for which the key and the preview are created. */
  readonly run: string;
  readonly isByHand: boolean;
  /** File to write the variables to. */
  readonly envFile: string | undefined;
}

const MAX_MEMORIES = 200_000;

export function createSandboxCommand(open: (options: SandboxOptions) => Promise<void>) {
  return createCommand(
    'npm run sandbox --',
    'Run everything that a migration needs on this machine, until Ctrl-C.',
  )
    .option(
      '--memories <n>',
      `number of memories to migrate, 1 to ${MAX_MEMORIES}`,
      createNumberParser({ min: 1, max: MAX_MEMORIES }),
      500,
    )
    .option(
      '--run <id>',
      'id that you will give the run; the key and the preview are created for it',
      parseRunId,
      'spring',
    )
    .option('--env <file>', 'also write the variables to a new file, removed with the sandbox')
    .option(
      '--by-hand',
      'freeze and deploy yourself, by typing commands here, instead of through a webhook',
    )
    .action(({ memories, run, env, byHand = false }) =>
      open({ memories, run, isByHand: byHand, envFile: env }),
    );
}

function parseRunId(text: string): string {
  if (v.is(runIdSchema, text)) return text;
  throw new InvalidArgumentError(`Use ${describeRule(runIdSchema)}.`);
}
