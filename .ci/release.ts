// npx node .ci/release.ts: tags the newest version of CHANGELOG.md and publishes its section, unless the version is already tagged.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseNewestRelease } from '../bench/ledger/releases.ts';
import { createCommand, runProgram } from '../processes/program.ts';

const command = createCommand('npx node .ci/release.ts', 'Publish the newest release.')
  .option('--dry-run', 'only say what would be published')
  .action(async ({ dryRun }) => {
    const { version, commit, notes } = parseNewestRelease(await readFile('CHANGELOG.md', 'utf8'));
    const tag = `v${version}`;
    const target = commit ?? (await run('git', 'rev-parse', 'HEAD'));
    if (await run('git', 'tag', '--list', tag)) return console.log(`${tag} is published already`);
    console.log(`${tag} at ${target}:\n${notes}`);
    if (dryRun) return;
    const options = ['--target', target, '--title', version, '--notes', notes];
    await run('gh', 'release', 'create', tag, ...options);
  });

await runProgram(command);

async function run(program: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args)).stdout.trim();
}
