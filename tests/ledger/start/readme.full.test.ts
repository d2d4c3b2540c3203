// The commands of the README, as a reader pastes them into one terminal, print what the README shows.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';
import { createResourcesInTest, startInTest } from '../support/resources-in-test.ts';
import { PROJECT, startSharedDatabase } from '../support/running-service.ts';

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
/** The tour at a smaller size, with a history that ends on a fixed day: on another day the newest row has another category. */
const SMALLER_TOUR = [
  ['--transactions 2000', '--transactions 300 --until 2026-11-26'],
  ['&page=13', '&page=1'],
] as const;

interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

function readCommands(heading: string): ShownCommand[] {
  const section =
    README.split(/^(?=## )/m).find((each) => each.startsWith(`## ${heading}\n`)) ?? '';
  return [...section.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .filter((each) => each.trim())
      .map((each) => {
        const [command = '', ...lines] = each.trimEnd().split('\n');
        return { command, output: lines.join('\n') };
      }),
  );
}

/** Masks the parts of an output that differ between two runs. A row keeps its fields, and a sentence its words. */
function mask(output: string): string {
  if (!output.startsWith('{')) {
    return output
      .replace(/(?<=Key )[0-9a-f]{12}/, 'KEY')
      .replaceAll(/row-[0-9a-f]{32}/g, 'ROW')
      .replaceAll(/\d+/g, '0');
  }
  const { data, pagination, message = '', ...rest } = JSON.parse(output);
  const row = Array.isArray(data) ? data[0] : data;
  const fields = [row, pagination].map((each) => each && Object.keys(each).join(' '));
  return JSON.stringify([rest, message.replaceAll(/\d+/g, '0'), row?.category_name, ...fields]);
}

async function runAll(
  commands: readonly string[],
  environment: NodeJS.ProcessEnv,
  folder: string,
): Promise<string[]> {
  const parts = commands.map((command) => `${command}\nprintf '\\n%s\\n' "=== $?"`);
  const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${parts.join('\n')}`], {
    cwd: folder,
    env: { ...process.env, ...environment, XDG_CONFIG_HOME: folder },
  });
  return stdout
    .replaceAll(/\r|^progress .*\n/gm, '')
    .split(/\n=== \d+\n/)
    .map((each) => each.trim());
}

/** Creates a folder in which the project's commands can run and write. */
async function createProjectFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  for (const name of readdirSync(PROJECT)) symlinkSync(join(PROJECT, name), join(folder, name));
  const [, bank = ''] = /```csv\n(.*?)```/s.exec(README) ?? [];
  writeFileSync(join(folder, 'bank.csv'), bank);
  return folder;
}

/** Uses up an id first, so that commands cannot rely on the ids that the README shows. */
const GAP = {
  command: `ledger localhost:3000/transactions -d '{"description": "Gap", "amount": 1, "type": "expense"}' >/dev/null; ledger -X DELETE localhost:3000/transactions/$(answered_id)`,
  output: '{"success":true,"message":"Transaction deleted successfully"}',
};

it.each([
  { heading: "A day's work", lastLine: '0 created, 4 already existed, 0 refused' },
  { heading: 'A tour', lastLine: ': 300 transactions, 31 categories: in order' },
])('the commands of "$heading" print what the README shows', async ({ heading, lastLine }) => {
  const database = await startSharedDatabase(createResourcesInTest(), 'finance-ledger-local');
  const { port, ready } = await startInTest({ environment: { ...database, AUTH: 'required' } });
  await ready;
  const examples = readCommands(heading).flatMap((each) =>
    each.command.includes(' seed ') ? [each, GAP] : [each],
  );
  expect(examples.length).toBeGreaterThan(10);
  const commands = examples.map(({ command }) =>
    SMALLER_TOUR.reduce((text, [large, small]) => text.replace(large, small), command).replaceAll(
      'localhost:3000',
      `localhost:${port}`,
    ),
  );
  const environment = { ...database, PORT: String(port) };
  const outputs = await runAll(commands, environment, await createProjectFolder());
  expect(commands.map((command, n) => [command, mask(outputs[n] ?? '')])).toEqual(
    commands.map((command, n) => [command, mask(examples[n]?.output ?? '')]),
  );
  expect(outputs.at(-2)).toContain(lastLine);
});
