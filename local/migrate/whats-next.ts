// What may be done next with a run, as commands to be typed.
import type { Status } from '../../lib/migration/steps/status.ts';
import { commandNamed } from './commands.ts';

export interface Next {
  readonly command: string;
  readonly by: readonly string[];
}

export function whatsNext({
  runId,
  moves,
  gates,
}: Pick<Status, 'runId' | 'moves' | 'gates'>): Next[] {
  const approvals = gates
    .filter(({ isOpen, digest }) => !isOpen && digest !== null)
    .map(({ gate, digest }) => ({
      command: `approve --run ${runId} --gate ${gate} --evidence ${digest} --by NAME --until TIME`,
      by: ['operator'],
    }));
  const steps = moves.map(({ command, by }) => {
    const told = commandNamed(command).mutates ? ' --execute' : '';
    return { command: `${command} --run ${runId}${told}`, by };
  });
  return [...approvals, ...steps];
}
