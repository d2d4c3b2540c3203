// npm run sandbox: other processes drive a whole migration in the sandbox, which leaves nothing behind.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { BARE_ENVIRONMENT } from '../../shared/support/bare-environment.ts';
import { listDescendants, listSurvivors } from '../../shared/support/process-tree.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const SANDBOX = join(PROJECT, 'sandbox/sandbox.ts');
const MIGRATE = join(PROJECT, 'cli/migration/migrate/migrate.ts');
const FEW_MEMORIES = ['--memories', '40'];
const RUN = ['--run', 'spring'];
const CONFIRMED = [...RUN, '--execute', '--yes'];

/** Starts a sandbox whose folder for temporary files belongs to the test alone. */
async function startSandbox(...args: string[]) {
  const folder = await createTemporaryFolder();
  const child = spawn(process.execPath, [SANDBOX, ...args], {
    // Services named in a developer's shell must not be migrated.
    env: { ...BARE_ENVIRONMENT, TMPDIR: folder, NEO4J_URL: 'bolt://graph.invalid:7687' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const { promise: readiness, resolve: reportReady } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line === 'ready') reportReady();
  });
  const ended = once(child, 'close');
  const endedEarly = ended.then(([code]) =>
    Promise.reject(new Error(`The sandbox ended with ${code}`)),
  );
  endedEarly.catch(() => {});
  await Promise.race([readiness, endedEarly]);

  async function type(word: string): Promise<void> {
    child.stdin.write(`${word}\n`);
    await expect.poll(() => lines.at(-1)).toMatch(new RegExp(`^${word}, `));
  }

  /** @returns the sandbox's exit code, its processes that still run, and the files that it left */
  async function stop() {
    const started = listDescendants(child.pid ?? 0);
    expect(started.length).toBeGreaterThan(0);
    // The signal comes more than once: from the terminal and from npm.
    const interrupting = setInterval(() => child.kill('SIGINT'), 10);
    const [code] = await ended;
    clearInterval(interrupting);
    return { code, running: listSurvivors(started), files: await readdir(folder) };
  }

  return { folder, lines, type, stop };
}

const NOTHING_LEFT = { code: 0, running: [], files: [] };

/** Runs each command in a shell that has set the sandbox's variables. */
function createShell(setVariables: string) {
  return async (...args: string[]): Promise<string> => {
    const script = `${setVariables}; exec "$0" "$@"`;
    const command = [process.execPath, MIGRATE, ...args];
    const env = { ...BARE_ENVIRONMENT, NEO4J_URL: 'bolt://graph.invalid:7687' };
    return await new Promise((resolve, reject) => {
      execFile('sh', ['-c', script, ...command], { env }, (error, stdout) => {
        if (error) reject(error);
        else resolve(stdout);
      });
    });
  };
}

it('the sandbox is migrated from start to live and back by commands of other processes', async () => {
  const file = join(await createTemporaryFolder(), 'sandbox.env');
  const sandbox = await startSandbox(...FEW_MEMORIES, '--env', file);
  const migrate = createShell(`set -a; . ${file}; set +a`);
  const firstCommand = sandbox.lines.find((line) => line.includes('migrate -- run')) ?? '';
  const output = await migrate(...firstCommand.trim().split(' ').slice(5), '--yes');
  expect(output).toContain('Users are on the new version');
  expect(await migrate('rollback', ...CONFIRMED, '--acknowledged-loss', '0')).toContain(
    'users are on the old version',
  );
  const actions = sandbox.lines.flatMap((line) => /^webhook: (.+), done$/.exec(line)?.[1] ?? []);
  // The freeze may be requested more than once, until writes are proved frozen.
  expect(actions.filter((action, n) => action !== actions[n - 1])).toEqual([
    ...['check', 'freeze', 'deploy-new', 'open-writes'],
    ...['freeze', 'deploy-old', 'open-writes'],
  ]);
  expect(await sandbox.stop()).toEqual(NOTHING_LEFT);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

it('typed actions freeze and open the writes of the sandbox', async () => {
  const { lines, type, stop } = await startSandbox(...FEW_MEMORIES, '--by-hand');
  const exported = lines.filter((line) => line.startsWith('export '));
  expect(exported).toContain('export MIGRATION_WEBHOOK_URL=');
  const migrate = createShell(exported.join('; '));
  const plan = ['--source', 'memories', '--accept', 'no-graph', '--free-gb', '1'];
  expect(await migrate('preflight', ...RUN, ...plan)).toContain('Prerequisites:');
  const curl = lines.find((line) => line.includes('curl ')) ?? '';
  const write = () => spawnSync('sh', ['-c', `${curl} -o /dev/null -w '%{http_code}'`]).stdout;
  expect(String(write())).toBe('200');
  await type('freeze');
  expect(String(write())).toBe('503');
  await type('open-writes');
  expect(String(write())).toBe('200');
  expect(await stop()).toEqual(NOTHING_LEFT);
});

it.for([
  [['--memories', '-5'], '--memories'],
  [['--run', 'S'], '--run'],
  [['--colour'], '--colour'],
  [[...FEW_MEMORIES, '--env', SANDBOX], `--env ${SANDBOX} cannot be written: EEXIST`],
] as const)('the sandbox refuses to start with %j, and says why', async ([args, why]) => {
  const folder = await createTemporaryFolder();
  const env = { ...BARE_ENVIRONMENT, TMPDIR: folder };
  const ended = spawnSync(process.execPath, [SANDBOX, ...args], { env, encoding: 'utf8' });
  expect([ended.status, ended.stdout]).toEqual([2, '']);
  expect(ended.stderr).toContain(why);
  expect(ended.stderr).not.toContain('    at ');
  expect(await readdir(folder)).toEqual([]);
});
