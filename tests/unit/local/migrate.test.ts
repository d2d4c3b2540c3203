// The migration's command line as data: every move has its command, and every word that is typed its meaning.
import { describe, expect, it } from 'vitest';
import { MOVES } from '../../../lib/migration/moves.ts';
import { COMMANDS, type CommandName, commandNamed } from '../../../local/migrate/commands.ts';
import { readOrder, WrongUseError } from '../../../local/migrate/read-order.ts';
import { helpOn } from '../../../local/migrate/telling.ts';

const NAMES = Object.keys(COMMANDS) as CommandName[];

describe('the table of commands', () => {
  it.each(MOVES)('gives $command in a run that is $from as the moves have it', (move) => {
    const { acts, by, needs, takes } = commandNamed(move.command);
    expect(acts).toBe(move.mutates ? 'when told to' : 'on its record alone');
    expect(takes.includes('execute')).toBe(move.mutates);
    expect(needs).toContain('run');
    if (by === 'a person') expect(move.by).toEqual(['operator']);
  });

  it.each(NAMES)('lets %s be confirmed where it is grave, and there alone', (name) => {
    const { isGrave, takes } = commandNamed(name);
    expect(takes.includes('yes-run')).toBe(isGrave);
  });

  it.each(NAMES)('is in the help, as is what %s takes', (name) => {
    const { needs, takes, does } = commandNamed(name);
    expect(helpOn()).toContain(does);
    for (const option of [...needs, ...takes]) expect(helpOn(name)).toContain(`--${option}`);
  });
});

describe('an order', () => {
  it('is the input of its function, numbers as numbers', () => {
    const words =
      'start --run run-a --source memories --window-minutes 20 --free-gb 40 --accept no-graph';
    expect(readOrder([...words.split(' '), '--accept', 'expired-memories', '--execute'])).toEqual({
      name: 'start',
      payload: {
        ...{ runId: 'run-a', execute: true, sourceCollection: 'memories', windowMinutes: 20 },
        freeBytes: 40_000_000_000,
        accepts: ['no-graph', 'expired-memories'],
      },
      isMeant: true,
      yesRun: undefined,
    });
  });

  it.each([
    ['migrate', 'no command "migrate"'],
    ['copy', '"copy" needs --run'],
    ['copy --run', '--run'],
    ['copy --run run-a --force', "'--force'"],
    ['preflight --run run-a --execute', "'--execute'"],
    ['copy --run run-a again', "'again'"],
    ['rollback --run run-a --acknowledged-loss some', '--acknowledged-loss is a whole number'],
  ])('is wrong use as "%s"', (words, fault) => {
    const read = () => readOrder(words.split(' '));
    expect(read).toThrow(WrongUseError);
    expect(read).toThrow(fault);
  });

  it.each([[[]], [['--help']], [['help']]])('is a request for help as %j', (words) => {
    expect(readOrder(words)).toEqual({});
  });

  it('is a request for the help of one command', () => {
    expect(readOrder(['copy', '--help'])).toEqual({ helpOn: 'copy' });
  });
});
