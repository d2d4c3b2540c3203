// The options of the commands as a person types them: help, and one clear line for what is wrong.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

function run(command: string, options: readonly string[]) {
  const file = join(import.meta.dirname, '../../../local', command);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...options], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe.for(['seed', 'verify-ledger'])('%s', (name) => {
  it.for(['--help', '-h'])('%s tells its usage', (option) => {
    const { status, stdout, stderr } = run(`${name}.ts`, [option]);
    expect(stdout).toMatch(new RegExp(`^npm run ${name} -- \\[options\\]: `));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('a wrong option', () => {
  it.for([
    ['seed.ts', 1, ['--transactions', '-5'], /--transactions.*ambiguous/],
    ['seed.ts', 1, ['--transactions=-5'], /^--transactions must be a whole number from 1 on/],
    ['seed.ts', 1, ['--url', 'nonsense'], /^--url must be an address like/],
    ['seed.ts', 1, ['--url', 'localhost:3000'], /^--url must be an address like/],
    ['seed.ts', 1, ['--colour'], /Unknown option '--colour'/],
    ['verify-ledger.ts', 2, ['--colour'], /Unknown option '--colour'/],
  ] as const)('of %s ends it with code %i: %j', ([command, code, options, sentence]) => {
    const { status, stdout, stderr } = run(command, options);
    expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(sentence)]);
  });
});
