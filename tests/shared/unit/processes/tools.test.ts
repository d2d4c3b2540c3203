// Tools that run a program to its end, or fetch something once: they show the program's errors, and leave no draft behind.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UserError } from '../../../../lib/shared/user-error.ts';
import { createResources } from '../../../../processes/resources.ts';
import { fetchOnce, runNode, runToEnd } from '../../../../processes/tools.ts';

const CACHE = join(import.meta.dirname, '../../../../.local');

const script = (code: string) => ({ command: process.execPath, args: ['-e', code] });

describe('a program that is run to its end', () => {
  it('returns what it printed', async () => {
    const code = 'console.log("one"); console.error("two")';
    expect(await runToEnd(createResources(), script(code))).toMatch(/^(one\ntwo|two\none)$/);
  });

  it.each([
    [
      'the line that names an error',
      'Looking\nERROR: No network\nNotice: a new version',
      'ERROR: No network',
    ],
    ['the line below a heading', 'Working\nError:\nNo network\n\nEnvironment: node', 'No network'],
    ['the last line', 'Working\nNo network\n\n', 'No network'],
    ['nothing', '', 'it printed nothing'],
  ])('shows its error in the first line: %s', async (_, output, error) => {
    const code = `process.stderr.write(${JSON.stringify(output)}); process.exitCode = 3`;
    const run = runToEnd(createResources(), { title: 'pip', ...script(code) });
    const { message } = await run.catch((failure) => failure);
    expect(message.split('\n')[0]).toBe(`pip ended with exit code 3: ${error}`);
    expect(message).toContain(output.trimEnd());
  });

  it('is named in the error if it cannot be started', async () => {
    const run = runToEnd(createResources(), { command: 'no-such-program', args: [] });
    await expect(run).rejects.toThrow(/^no-such-program ended with exit code 127: .*not found/);
  });
});

describe('a program of this project', () => {
  const run = (code: string, ...args: string[]) => runNode(createResources(), '-e', code, ...args);

  it('gets its arguments, and returns what it printed', async () => {
    expect(await run('console.log(process.argv.at(-1))', 'ledger')).toBe('ledger');
  });

  it.each([
    [
      'what it reported',
      'console.error("The table is missing"); process.exit(1)',
      'The table is missing',
    ],
    ['how it ended, if it reported nothing', 'process.exit(1)', '-e ended with exit code 1'],
    [
      'the signal that ended it',
      'console.log("done"); process.kill(process.pid)',
      '-e ended by SIGTERM',
    ],
  ])('fails with %s', async (_, code, message) => {
    await expect(run(code)).rejects.toThrow(new UserError(message));
  });

  it('gets no signal after its end, because its process id may belong to another program', async () => {
    const resources = createResources();
    await runNode(resources, '-e', '');
    const kill = vi.spyOn(process, 'kill');
    await resources.stop();
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();
  });
});

describe('a program that is fetched once', () => {
  function createName(): string {
    const folder = `test-${randomUUID()}`;
    onTestFinished(() => rm(join(CACHE, folder), { recursive: true, force: true }));
    return `${folder}/program`;
  }

  it('shows the error of the program that fetches it', async () => {
    const fetched = fetchOnce(createResources(), createName(), async (draft, run) => {
      await run(process.execPath, '-e', 'console.error("ERROR: no network"); process.exit(1)');
      return draft;
    });
    await expect(fetched).rejects.toThrow(/cannot be fetched: .*ERROR: no network/);
  });

  it('leaves no unfinished download after the stop', async () => {
    const resources = createResources();
    await resources.stop();
    const program = createName();
    const fetched = fetchOnce(resources, program, async (draft) => draft);
    await expect(fetched).rejects.toThrow('Stopping');
    expect(existsSync(join(CACHE, dirname(program)))).toBe(false);
  });
});
