// npm run deploy:emulator starts a stage that serves requests, and Ctrl-C leaves nothing of the stage behind.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { BARE_ENVIRONMENT } from '../support/bare-environment.ts';
import { listDescendants, listSurvivors } from '../support/process-tree.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../../local/emulator/deploy-emulator.ts');

test('the stage responds to the command that it prints, and is deleted after Ctrl-C', async () => {
  const folder = await createTemporaryFolder();
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...BARE_ENVIRONMENT, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Ctrl-C')) break;
  }
  const command = lines.find((line) => line.startsWith('Try:'))?.replace('Try:', '') ?? '';
  const output = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual({ success: true, data: [], count: 0 });

  const started = listDescendants(child.pid ?? 0);
  child.kill('SIGINT');
  const [code] = await ended;
  expect({ code, running: listSurvivors(started), files: await readdir(folder) }).toEqual({
    code: 0,
    running: [],
    files: [],
  });
});
