// Starts S3 and the Parameter Store on this machine, in memory, with Moto.

import { join } from 'node:path';
import { UserError } from '../../lib/shared/user-error.ts';
import { awaitResponse } from '../../processes/await-response.ts';
import { findFreePort } from '../../processes/free-port.ts';
import { preparePython, whyPythonUnavailable } from '../../processes/python-tools.ts';
import type { Resources } from '../../processes/resources.ts';
import type { Service, StartedService } from '../../processes/service.ts';
import { readLocalAccess } from '../local-access.ts';

const REQUIREMENTS = join(import.meta.dirname, 'moto.txt');
export const awsServices: Service = {
  title: 'S3 and the Parameter Store (Moto)',
  whyUnavailable: whyPythonUnavailable,
  start,
};

async function start(resources: Resources): Promise<StartedService> {
  const python = await preparePython(resources, REQUIREMENTS);
  const { region, accessKeyId, secretAccessKey } = readLocalAccess({});
  const port = await findFreePort();
  let lastLine = '';
  const child = resources.startProgram({
    command: python,
    args: ['-m', 'moto.server', '--host', '127.0.0.1', '--port', `${port}`],
    onLine: (line) => {
      lastLine = line || lastLine;
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  if (!(await awaitResponse(`${endpoint}/moto-api/data.json`, child))) {
    throw new UserError(`Moto did not start: ${lastLine}`);
  }
  const environment = {
    S3_ENDPOINT: endpoint,
    SSM_ENDPOINT: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  return { environment, ended: child.ended };
}
