// Starts Qdrant's storage engine without its server, behind our own REST front end, for tests on machines without a Qdrant
// server.
import { join } from 'node:path';
import { UserError } from '../../../lib/shared/user-error.ts';
import { awaitResponse } from '../../../processes/await-response.ts';
import { findFreePort } from '../../../processes/free-port.ts';
import { preparePython, whyPythonUnavailable } from '../../../processes/python-tools.ts';
import type { Service } from '../../../processes/service.ts';

const FRONT = join(import.meta.dirname, 'front.py');

export const qdrantEngine: Service = {
  title: "Qdrant's engine",
  whyUnavailable: whyPythonUnavailable,
  async start(resources) {
    const python = await preparePython(resources, join(import.meta.dirname, 'qdrant-edge.txt'));
    const folder = await resources.createTemporaryFolder('qdrant-engine-');
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    let lastLine = '';
    const child = resources.startProgram({
      command: python,
      args: [FRONT, String(port), folder],
      graceMilliseconds: 5_000,
      onLine: (line) => {
        lastLine = line || lastLine;
      },
    });
    if (!(await awaitResponse(`${url}/readyz`, child))) {
      throw new UserError(`Qdrant's engine did not start: ${lastLine}`);
    }
    return { environment: { QDRANT_URL: url }, ended: child.ended };
  },
};
