// Formats the outcome of the command: a list of dumps, the check of a dump, or its restore.
import { EXIT, type ExitCode } from '../migrate/output.ts';
import { formatCount } from '../migrate/text.ts';
import type { Dump, RestoreOutcome } from './run-command.ts';

export function chooseExitCode(outcome: RestoreOutcome): ExitCode {
  return 'differences' in outcome && outcome.differences.length > 0 ? EXIT.failed : EXIT.done;
}

export function formatOutcome(outcome: RestoreOutcome): string {
  if ('dumps' in outcome) {
    return outcome.dumps.map(formatDump).join('\n') || 'There is no finished dump of that run.';
  }
  const { dump } = outcome;
  if (outcome.dryRun) {
    const summary = `${formatDump(dump)}: unchanged since it was dumped\nDigest of the dump: ${outcome.digest}`;
    const schema = ['Constraints and indexes:', ...outcome.statements].join('\n  ');
    return `${summary}\n${schema}\nThe graph ${describeCondition(outcome.target)}\nA dry run: nothing was changed. To restore, repeat the command with --execute.`;
  }
  const { differences } = outcome;
  if (differences.length === 0) return `${formatDump(dump)}: restored, and equal to its dump`;
  const lines = differences.map(
    ({ what, wanted, found }) => `  ${what}: ${found} instead of ${wanted}`,
  );
  return [`${formatDump(dump)}: the graph differs from its dump`, ...lines].join('\n');
}

function formatDump({ dump, finishedAt, nodes, relationships }: Dump): string {
  return `${dump}  of ${finishedAt}, nodes ${nodes}, relationships ${relationships}`;
}

function describeCondition({
  foreign,
  state,
}: Extract<RestoreOutcome, { dryRun: true }>['target']): string {
  if (state === 'finishing')
    return 'has everything; only the marks of the restore must still be removed.';
  if (foreign > 0)
    return `has ${formatCount(foreign, 'node')}: only an empty graph can be restored into.`;
  return state === 'filling'
    ? 'contains part of a restore, which continues.'
    : 'is empty and can be restored into.';
}
