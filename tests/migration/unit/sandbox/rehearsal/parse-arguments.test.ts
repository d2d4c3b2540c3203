// The options of npm run rehearse: a wrong option is reported before anything is started.
import { expect, it } from 'vitest';
import {
  createRehearseCommand,
  type RehearseOptions,
} from '../../../../../sandbox/rehearsal/parse-arguments.ts';

const TITLES = ['there', 'and back', 'broken'];
const DEFAULTS = { memories: 2000, acts: undefined, run: undefined };

function parse(...args: readonly string[]): RehearseOptions | 'list' | undefined {
  let options: RehearseOptions | 'list' | undefined;
  const command = createRehearseCommand(TITLES, (parsed) => {
    options = parsed;
  });
  command.parse(args, { from: 'user' });
  return options;
}

it.each([
  [[], { ...DEFAULTS, readsExisting: false, mayRedeploy: false }],
  [
    ['--memories=7', '--acts', '3,1,3', '--run', 'rehearsal-spring'],
    {
      memories: 7,
      acts: [3, 1],
      run: 'rehearsal-spring',
      readsExisting: false,
      mayRedeploy: false,
    },
  ],
  [
    ['--existing-graph', '--redeploy-backend'],
    { ...DEFAULTS, readsExisting: true, mayRedeploy: true },
  ],
  [['--acts', 'list'], 'list'],
])('npm run rehearse accepts %j', (args, options) => expect(parse(...args)).toEqual(options));

it.each([
  ...['-5', '0', '1.5', '1e3', '', '200001', '-0', '0x10'].map((n) => `--memories=${n}`),
  ...['0', '4', '1,,2', 'all', '-1', '1;2'].map((acts) => `--acts=${acts}`),
  ...['memories', 'rehearsal_1', 'Rehearsal', 'rehearsal/..', ''].map((id) => `--run=${id}`),
  ...['--colour', '--existing-graph=1', '--memories'],
])('npm run rehearse refuses %s, and names the option', (arg) => {
  expect(() => parse(arg)).toThrow(arg.split('=')[0]);
});
