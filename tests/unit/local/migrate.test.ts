// The migration's command line as data: every move has its command, and every word that is typed its meaning.
import { describe, expect, it } from 'vitest';
import { MOVES } from '../../../lib/migration/moves.ts';
import { GATES } from '../../../lib/migration/phases.ts';
import { ACCEPTABLE } from '../../../lib/migration/runs/run.ts';
import { COMMANDS, type CommandName, commandNamed } from '../../../local/migrate/commands.ts';
import { type Order, readOrder } from '../../../local/migrate/read-order.ts';
import { helpOn } from '../../../local/migrate/telling.ts';
import { WrongUseError } from '../../../local/migrate/typed-values.ts';

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

  it('tells with start what a run is called and what may be accepted, with approve the gates', () => {
    expect(helpOn('start')).toContain('the run: 4 to 40 small letters, digits and dashes');
    for (const finding of ACCEPTABLE) expect(helpOn('start')).toContain(finding);
    expect(helpOn('start')).toMatch(/--window-minutes N .* 1 to 240 /);
    for (const gate of GATES) expect(helpOn('approve')).toContain(gate);
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
    ['start --execute', '"start" needs --run and --source'],
    ['copy --run', '--run needs a value: ID'],
    ['copy --run --execute', '--run needs a value: ID'],
    ['copy --run run-a --execute=yes', '--execute takes no value'],
    ['copy --run run-a --run run-b', '--run is given 2 times, and is taken once'],
    ['copy --run run-a --json --json', '--json is given 2 times, and is taken once'],
    ['copy --run run-a --force', "Unknown option '--force'."],
    ['copy --run run-a again', "'again'"],
    [
      'preflight --run run-a --free-gb -5',
      '--free-gb is a whole number from 0 to 9007199, not "-5"',
    ],
    ['preflight --run run-a --free-gb 9007200', 'to 9007199, not "9007200"'],
    ['preflight --run run-a --free-gb 1e400', 'to 9007199, not "1e400"'],
    [`preflight --run run-a --free-gb ${'9'.repeat(20)}`, 'to 9007199, not "9'],
    [`rollback --run run-a --acknowledged-loss ${'9'.repeat(999)}`, `not "${'9'.repeat(40)}..."`],
    [
      'rollback --run run-a --acknowledged-loss -1',
      '--acknowledged-loss is a whole number from 0 to 9007199254740991, not "-1"',
    ],
  ])('is wrong use as "%s"', (words, fault) => {
    const read = () => readOrder(words.split(' '));
    expect(read).toThrow(WrongUseError);
    expect(read).toThrow(fault);
    expect(read).not.toThrow('ambiguous');
  });

  it('takes what may be given several times, and the largest number that is one', () => {
    const words = 'start --run run-a --source m --accept no-graph --accept unknown-space';
    const { payload } = readOrder([...words.split(' '), '--free-gb', '9007199']) as Order;
    expect(payload).toMatchObject({
      accepts: ['no-graph', 'unknown-space'],
      freeBytes: 9_007_199_000_000_000,
    });
  });

  it('takes no --execute where there is nothing to be meant, and says so', () => {
    for (const name of ['preflight', 'verify']) {
      const read = () => readOrder([name, '--run', 'run-a', '--execute']);
      expect(read).toThrow(`"${name}" takes no --execute.`);
    }
  });

  it.each([[[]], [['--help']], [['help']], [['--json', '--help']], [['--help', '--json']]])(
    'is a request for help as %j',
    (words) => {
      expect(readOrder(words)).toEqual({});
    },
  );

  it('is a request for the help of one command', () => {
    expect(readOrder(['copy', '--help'])).toEqual({ helpOn: 'copy' });
  });
});
