// Programs that are run to their end or fetched once: their errors are shown, and nothing is left of a draft.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRunning } from '../../../../local/processes/running.ts';
import { fetchOnce, runToEnd } from '../../../../local/processes/tools.ts';

const CACHE = join(import.meta.dirname, '../../../../.local');
const TOOLS = join(import.meta.dirname, '../../../../local/processes/tools.ts');
const PROGRAM = join(import.meta.dirname, '../../../../local/processes/program.ts');
const RUNNING = join(import.meta.dirname, '../../../../local/processes/running.ts');

const script = (code: string) => ({ command: process.execPath, args: ['-e', code] });

describe('a program that is run to its end', () => {
  it('returns what it printed', async () => {
    const code = 'console.log("one"); console.error("two")';
    expect(await runToEnd(createRunning(), script(code))).toMatch(/^(one\ntwo|two\none)$/);
  });

  it.each([
    [
      'the line that names one',
      'Looking\nERROR: No network\nNotice: a new version',
      'ERROR: No network',
    ],
    ['the line below a heading', 'Working\nError:\nNo network\n\nEnvironment: node', 'No network'],
    ['the last line', 'Working\nNo network\n\n', 'No network'],
    ['nothing', '', 'it printed nothing'],
  ])('shows its error in the first line: %s', async (_, output, error) => {
    const code = `process.stderr.write(${JSON.stringify(output)}); process.exitCode = 3`;
    const run = runToEnd(createRunning(), { title: 'pip', ...script(code) });
    const { message } = await run.catch((failure) => failure);
    expect(message.split('\n')[0]).toBe(`pip ended with exit code 3: ${error}`);
    expect(message).toContain(output.trimEnd());
  });

  it('is named where it cannot be started', async () => {
    const run = runToEnd(createRunning(), { command: 'no-such-program', args: [] });
    await expect(run).rejects.toThrow(/^no-such-program ended with exit code 127: .*not found/);
  });
});

describe('a program that is fetched once', () => {
  function name(): string {
    const folder = `test-${randomUUID()}`;
    onTestFinished(() => rm(join(CACHE, folder), { recursive: true, force: true }));
    return `${folder}/program`;
  }

  it('shows the error of the program that fetches it', async () => {
    const fetched = fetchOnce(createRunning(), name(), async (draft, run) => {
      await run(process.execPath, '-e', 'console.error("ERROR: no network"); process.exit(1)');
      return draft;
    });
    await expect(fetched).rejects.toThrow(/cannot be fetched: .*ERROR: no network/);
  });

  it('makes no draft after the stop', async () => {
    const running = createRunning();
    await running.stop();
    const program = name();
    const fetched = fetchOnce(running, program, async (draft) => draft);
    await expect(fetched).rejects.toThrow('Stopping');
    expect(existsSync(join(CACHE, dirname(program)))).toBe(false);
  });

  it('leaves no draft when the command is stopped', async () => {
    const program = name();
    const code = `
      import { createCommand, runProgram } from ${JSON.stringify(PROGRAM)};
      import { createRunning } from ${JSON.stringify(RUNNING)};
      import { fetchOnce } from ${JSON.stringify(TOOLS)};
      const running = createRunning();
      const command = createCommand('fetch', 'Fetch.').action(() =>
        fetchOnce(running, ${JSON.stringify(program)}, async (draft, run) => {
          console.log(draft);
          await run(process.execPath, '-e', 'setInterval(() => {}, 1000)');
        }));
      await runProgram(command, { running, exitCodeOnSignal: 0 });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await once(child.stdout, 'data');
    const draft = String(line).trim();
    expect(existsSync(draft)).toBe(true);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(existsSync(draft)).toBe(false);
  });
});
