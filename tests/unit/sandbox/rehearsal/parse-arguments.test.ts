// The options of npm run rehearse: a wrong one is named before anything is started.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import {
  createRehearseCommand,
  type Orders,
} from '../../../../sandbox/rehearsal/parse-arguments.ts';

const TITLES = ['there', 'and back', 'broken'];

const COMMAND = join(import.meta.dirname, '../../../../sandbox/rehearsal/rehearse.ts');

function parse(words: readonly string[]): Orders | 'list' | undefined {
  let orders: Orders | 'list' | undefined;
  const command = createRehearseCommand(TITLES, (parsed) => {
    orders = parsed;
  });
  command.parse(words, { from: 'user' });
  return orders;
}

describe('the options of a rehearsal', () => {
  it('are two thousand memories and every act by default', () => {
    expect(parse([])).toEqual({
      memories: 2000,
      acts: undefined,
      run: undefined,
      readsExisting: false,
      mayRedeploy: false,
    });
  });

  it('may name memories, acts, run and what may be done to real services', () => {
    const words = ['--memories=7', '--acts', '3,1,3', '--run', 'rehearsal-spring'];
    expect(parse([...words, '--existing-graph', '--redeploy-backend'])).toEqual({
      memories: 7,
      acts: [3, 1],
      run: 'rehearsal-spring',
      readsExisting: true,
      mayRedeploy: true,
    });
  });

  it('may ask for the list of the acts', () => {
    expect(parse(['--acts', 'list'])).toBe('list');
  });

  it.each(['-5', '0', '1.5', 'abc', '1e9', '1e3', '', ' ', '200001', '-0', 'Infinity', '0x10'])(
    'refuse %j memories',
    (memories) => {
      for (const words of [['--memories', memories], [`--memories=${memories}`]]) {
        expect(() => parse(words)).toThrow(CommanderError);
        expect(() => parse(words)).toThrow('--memories');
      }
    },
  );

  it.each(['0', '4', '1,,2', 'all', '-1', '1;2'])('refuse act %j', (acts) => {
    expect(() => parse(['--acts', acts])).toThrow('--acts');
  });

  it.each(['memories', 'rehearsal_1', 'Rehearsal', 'rehearsal/..', ''])(
    'refuse a run with the id %j',
    (id) => {
      expect(() => parse(['--run', id])).toThrow('--run');
    },
  );

  it.each([[['--colour']], [['acts']], [['--memories']], [['--existing-graph=1']], [['-5']]])(
    'refuse %j',
    (words) => {
      expect(() => parse(words)).toThrow(CommanderError);
    },
  );
});

it('npm run rehearse lists its acts', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, '--acts', 'list'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^ 1 {2}\w/);
});
