// The text that the sandbox prints: the variables for a second terminal, and the first commands to type there.
import { resolve } from 'node:path';

import { USER } from './playground.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { SOURCE } from './world.ts';

type Environment = Readonly<Record<string, string>>;

/** Formats a file that a shell reads with `set -a; . FILE`. */
export function formatAssignments(environment: Environment): string {
  return `${listAssignments(environment).join('\n')}\n`;
}

export function formatExports(environment: Environment): string[] {
  return listAssignments(environment).map((assignment) => `export ${assignment}`);
}

export function describeFirstSteps(options: SandboxOptions, environment: Environment): string[] {
  const { memories, run, isByHand, envFile } = options;
  const { MEMORY_BACKEND_URL = '' } = environment;
  const body = JSON.stringify({ user_id: USER.id, messages: [{ role: 'user', content: 'I row' }] });
  return [
    '',
    `${memories} memories are in the collection ${SOURCE}. In a second terminal, paste the lines above${
      envFile === undefined ? '' : `, or: set -a; . ${quote(resolve(envFile))}; set +a`
    }; then begin with`,
    `  npm run -s migrate -- run --run ${run} --source ${SOURCE} --accept no-graph --free-gb 1`,
    isByHand
      ? BY_HAND
      : 'A webhook freezes, deploys and opens writes; its actions are printed here.',
    'A user writes a memory, unless writes are frozen, with',
    `  curl -s ${MEMORY_BACKEND_URL}/memories -H 'x-api-key: ${USER.key}' -d ${quote(body)}`,
    'Ctrl-C stops everything and removes it.',
    'ready',
  ];
}

const BY_HAND =
  'You freeze, deploy and open: type freeze, deploy-new, deploy-old or open-writes here, then press Enter in the second terminal.';

function listAssignments(environment: Environment): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${quote(value)}`);
}

/** Quotes a value for a shell. */
function quote(text: string): string {
  return /^[\w./:-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
