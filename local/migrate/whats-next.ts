// What may be done next with a run, as commands to be typed.
import type { Status } from '../../lib/migration/steps/status.ts';
import { commandNamed } from './commands.ts';

export const COMMAND_LINE = 'npm run migrate --';

export interface Next {
  readonly command: string;
  readonly by: readonly string[];
}

type Standing = Pick<Status, 'runId' | 'moves' | 'gates'>;

/** @param stage that the commands are for, if any */
export function whatsNext({ runId, moves, gates }: Standing, stage?: string): Next[] {
  const there = stage === undefined ? '' : ` --stage ${stage}`;
  const approvals = gates
    .filter(({ isOpen, digest }) => !isOpen && digest !== null)
    .map(({ gate, digest }) => ({
      command: `approve --run ${runId} --gate ${gate} --evidence ${digest} --by NAME --until TIME${there}`,
      by: ['operator'],
    }));
  const steps = moves.map(({ command, by }) => {
    const told = commandNamed(command).acts === 'when told to' ? ' --execute' : '';
    return { command: `${command} --run ${runId}${told}${there}`, by };
  });
  return [...approvals, ...steps];
}
