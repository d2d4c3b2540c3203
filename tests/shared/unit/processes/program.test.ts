// How command-line programs parse options, fail and stop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import {
  createCommand,
  createNumberParser,
  parseHttpAddress,
} from '../../../../processes/program.ts';

const PROGRAM = new URL('../../../../processes/program.ts', import.meta.url).href;
const RESOURCES = new URL('../../../../processes/resources.ts', import.meta.url).href;
const IMPORTS = `
  import { createCommand, EXIT, runProgram } from '${PROGRAM}';
  import { createResources } from '${RESOURCES}';
  const resources = createResources();
  resources.onStop(() => console.log('undone'));
`;
const COUNT = `
  await runProgram(createCommand('npm run count --', 'Count.').action(() => undefined), { resources });
`;
/** A command that works until it gets a signal */
const SERVE = `createCommand('npm run serve --', 'Serve.').action(async () => {
    console.log('ready');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  })`;

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a small program in its own process. */
async function run(
  program: string,
  args: readonly string[] = [],
  onReady: (pid: number) => void = () => undefined,
): Promise<Result> {
  const { npm_lifecycle_event: _, ...env } = process.env;
  const options = ['--input-type=module-typescript', '--eval', IMPORTS + program, '--', ...args];
  const child = spawn(process.execPath, options, { env });
  child.stdout.once('data', () => onReady(Number(child.pid)));
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}

it('no terminal escape in a row is printed, in a line or in a table', async () => {
  const program = `
    const command = createCommand('npm run count --', 'Count.').action(() => {
      console.log('row \\x1b]0;title\\x07', { name: '\\x1b[2J' });
      console.table({ one: { name: '\\x9b31m' } });
    });
    await runProgram(command, { resources });`;
  const { stdout } = await run(program);
  expect(stdout).toContain('row \ufffd]0;title\ufffd');
  expect(stdout.replaceAll('\n', '')).toMatch(/^[^\p{Cc}]*$/u);
});

it.each([
  ['an error', "throw new Error('in \\x1b]0;title\\x07 \\x9b31m')", []],
  ['an undo that fails', "resources.onStop(() => { throw new Error('in \\x1b[2J') })", []],
  ['an argument', '', ['\u001b[2J\u009b31m']],
  ['a status line', "console.error('row \\x1b[2J')", []],
])('no terminal escape in %s is printed', async (_, action, args) => {
  const program = `
    const command = createCommand('npm run count --', 'Count.').action(() => { ${action} });
    await runProgram(command, { resources });`;
  const { stderr } = await run(program, args);
  expect(stderr).toContain('\ufffd');
  expect(stderr.replaceAll('\n', '')).toMatch(/^[^\p{Cc}]*$/u);
});

describe('options', () => {
  const command = () =>
    createCommand('npm run count --', 'Count.')
      .option('--up-to <n>', 'last number', createNumberParser({ min: 1, max: 9 }), 3)
      .option('--url <url>', 'where', parseHttpAddress);
  const parse = (args: readonly string[]) => command().parse(args, { from: 'user' }).opts();

  it('have defaults and parsed values', () => {
    expect(parse([])).toEqual({ upTo: 3 });
    expect(parse(['--up-to', '9', '--url', 'https://example.org/'])).toEqual({
      upTo: 9,
      url: 'https://example.org',
    });
  });

  it.for([
    [['--up-to', '0'], '--up-to'],
    [['--up-to', '10'], '--up-to'],
    [['--up-to', '-5'], '--up-to'],
    [['--up-to', '1e400'], '--up-to'],
    [['--up-to'], '--up-to'],
    [['--url', 'localhost:3000'], '--url'],
    [['--colour'], '--colour'],
    [['word'], 'too many arguments'],
  ] as const)('are refused with the argument that cannot be used: %j', ([args, word]) => {
    expect(() => parse(args)).toThrow(CommanderError);
    expect(() => parse(args)).toThrow(word);
  });

  it('are refused with exit code 2 and a mention of --help', async () => {
    const { code, stdout, stderr } = await run(COUNT, ['--colour']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: 'undone\n' });
    expect(stderr).toContain('--help');
  });

  it.for(['--help', '-h'])('%s prints the usage', async (option) => {
    const { code, stdout, stderr } = await run(COUNT, [option]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm run count -- \[options\]\n/);
  });
});

describe('a program that ends', () => {
  const LATE = `setTimeout(() => { throw new Error('late'); });
    await new Promise((resolve) => setTimeout(resolve, 60_000));`;

  it.each([
    [
      'a failure in one line',
      `throw new Error('no disk space\\nsecond line');`,
      1,
      'no disk space\n',
    ],
    ['an error outside the action', LATE, 1, 'late\n'],
    ['the exit code of the action', 'process.exitCode = 5;', 5, ''],
  ])('reports %s, and undoes what was started', async (_, action, code, stderr) => {
    const program = `await runProgram(createCommand('x', '').action(async () => {
      ${action}
    }), { resources });`;
    expect(await run(program)).toEqual({ code, stdout: 'undone\n', stderr });
  });

  it.each([
    ['says what could not be undone', `throw new Error('still busy');`, 1, 'still busy'],
    [
      'waits for an undo only until its limit',
      'return new Promise(() => setInterval(() => {}, 1000));',
      0,
      '',
    ],
  ])('%s', async (_, undo, code, stderr) => {
    const program = `resources.onStop(() => { ${undo} });
      await runProgram(createCommand('x', '').action(() => undefined), { resources, stopMilliseconds: 10 });`;
    expect(await run(program)).toMatchObject({ code, stderr: expect.stringContaining(stderr) });
  });
});

describe.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it('undoes what was started and exits with the given code', async () => {
    const program = `await runProgram(${SERVE}, {
      resources, exitCodeOnSignal: EXIT.done, messageOnSignal: () => 'stopping',
      messageWhenStopped: (isReleased) => \`stopped \${isReleased}\`,
    });`;
    const result = await run(program, [], (pid) => process.kill(pid, signal));
    expect(result).toEqual({
      code: 0,
      stdout: 'ready\nundone\n',
      stderr: 'stopping\nstopped true\n',
    });
  });
});

it('a program stops once when a signal arrives several times', async () => {
  const program = `resources.onStop(() => new Promise((resolve) => setTimeout(resolve, 50)));
    await runProgram(${SERVE}, { resources, messageOnSignal: () => 'stopping' });`;
  const result = await run(program, [], (pid) => {
    for (let n = 0; n < 3; n += 1) process.kill(pid, 'SIGINT');
  });
  expect(result).toEqual({ code: 1, stdout: 'ready\nundone\n', stderr: 'stopping\n' });
});
