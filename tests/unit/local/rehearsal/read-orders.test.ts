// The options of npm run rehearse: one line for what is wrong, and that before anything is started.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOrders, USAGE } from '../../../../local/rehearsal/read-orders.ts';

const TITLES = ['there', 'and back', 'broken'];

const COMMAND = join(import.meta.dirname, '../../../../local/rehearse.ts');

function run(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...words], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('an order to rehearse', () => {
  it('is two thousand memories and every act unless told', () => {
    expect(readOrders([], TITLES)).toEqual({
      memories: 2000,
      acts: undefined,
      run: undefined,
      readsExisting: false,
      mayRedeploy: false,
    });
  });

  it('may name its memories, acts and run', () => {
    const words = ['--memories=7', '--acts', '3,1,3', '--run', 'rehearsal-spring'];
    expect(readOrders(words, TITLES)).toMatchObject({
      memories: 7,
      acts: [3, 1],
      run: 'rehearsal-spring',
    });
  });

  it.each(['-5', '0', '1.5', 'abc', '1e9', '1e3', '', ' ', '100001', '-0', 'Infinity', '0x10'])(
    'is never for %j memories',
    (memories) => {
      const line = `--memories is a whole number from 1 to 100000, not "${memories}"`;
      for (const words of [['--memories', memories], [`--memories=${memories}`]]) {
        expect(() => readOrders(words, TITLES)).toThrow(line);
      }
    },
  );

  it.each(['0', '4', '1,,2', 'all', '-1', '1;2'])('is never for act %j', (acts) => {
    expect(() => readOrders(['--acts', acts], TITLES)).toThrow(
      `--acts is "list", or numbers from 1 to 3 like 1,4, not "${acts}"`,
    );
  });

  it.each(['memories', 'rehearsal_1', 'Rehearsal', 'rehearsal/..', ''])(
    'is never a run called %j',
    (id) => {
      expect(() => readOrders(['--run', id], TITLES)).toThrow(/^--run begins with "rehearsal"/);
    },
  );

  it.each([[['--colour']], [['acts']], [['--memories']], [['--existing-graph=1']], [['-5']]])(
    'has no %j',
    (words) => {
      expect(() => readOrders(words, TITLES)).toThrow(/ npm run rehearse -- --help$/);
    },
  );

  it('may be for its help, or for a list of the acts', () => {
    expect(readOrders(['-h'], TITLES)).toEqual({ tells: USAGE });
    expect(readOrders(['--acts', 'list'], TITLES)).toEqual({
      tells: ' 1  there\n 2  and back\n 3  broken',
    });
  });
});

describe('npm run rehearse', () => {
  it.each([
    [['--help'], 0],
    [['--memories', '-5'], 2],
    [['--colour'], 2],
  ])('%j ends with %i', (words, status) => {
    const ended = run(...words);
    expect(ended).toMatchObject(status === 0 ? { status, stderr: '' } : { status, stdout: '' });
    expect(ended.stderr.split('\n')).toHaveLength(status === 0 ? 1 : 2);
  });
});
