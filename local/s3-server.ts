// An S3-compatible server with versions and object lock: the Versity gateway over a temporary folder.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { awaitAnswer } from './await-answer.ts';
import { localAccess } from './local-access.ts';
import type { Running } from './running.ts';
import type { Service, StartedService } from './service.ts';
import { StartError } from './start-error.ts';
import { fetchOnce, outputOf } from './tools.ts';

const VERSION = 'v1.8.0';
const MODULE = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;

export const s3Server: Service = {
  title: `an S3-compatible server (Versity gateway ${VERSION})`,
  obstacle: () => (outputOf('go', 'version') ? undefined : 'there is no Go to build it with'),
  start,
};

async function start(running: Running): Promise<StartedService> {
  const folder = await fetchOnce(`s3-server/${VERSION}`, build);
  const data = await mkdtemp(join(tmpdir(), 's3-server-'));
  running.whenStopping(() => rm(data, { recursive: true, force: true }));
  const [objects, versions] = [join(data, 'objects'), join(data, 'versions')];
  for (const part of [objects, versions]) await mkdir(part);
  const { region, accessKeyId, secretAccessKey } = localAccess({});
  const port = await getPort();
  let lastWord = '';
  const child = running.startProgram({
    command: join(folder, 'versitygw'),
    args: [
      ...['--quiet', '--port', `127.0.0.1:${port}`],
      ...['--region', region, '--access', accessKeyId, '--secret', secretAccessKey],
      ...['posix', '--versioning-dir', versions, objects],
    ],
    onLine: (line) => {
      lastWord = line || lastWord;
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  if (!(await awaitAnswer(endpoint, child))) {
    throw new StartError(`The S3-compatible server did not start: ${lastWord}`);
  }
  const environment = {
    S3_ENDPOINT: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  return { environment, ended: child.ended };
}

// The version in the address is checked by Go against its checksum database.
async function build(draft: string): Promise<string> {
  const env = { ...process.env, GOBIN: draft };
  await promisify(execFile)('go', ['install', MODULE], { env });
  return draft;
}
