// Fetches the Node version of this project once, and only on a machine with an older Node.
import { spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const FETCH_SCRIPT = 'mkdir -p node_modules/node/bin && touch node_modules/node/bin/node';
const OLDER_NODE = `Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })`;

describe.skipIf(process.platform === 'win32')('the Node of this project', () => {
  /** @param npm shell script that the package manager runs instead of a rebuild */
  async function openCheckout(npm: string) {
    const checkout = await createTemporaryFolder();
    const program = join(checkout, 'processes/fetch-node.js');
    const calls = join(checkout, 'calls');
    await cp('processes/fetch-node.js', program);
    await writeFile(join(checkout, 'package.json'), '{ "type": "module" }');
    const script = `#!/bin/sh\necho "$@" >> ${calls}\n${npm}\n`;
    await writeFile(join(checkout, 'npm'), script, { mode: 0o755 });
    const env = { ...process.env, PATH: `${checkout}${delimiter}${process.env.PATH}` };
    return {
      fetchNode: (...options: readonly string[]) =>
        spawnSync(process.execPath, [...options, program], { env, encoding: 'utf8' }),
      calls: () => readFile(calls, 'utf8'),
    };
  }

  test('is fetched once, by the script of one package', async () => {
    const { fetchNode, calls } = await openCheckout(FETCH_SCRIPT);
    expect(fetchNode()).toMatchObject({ status: 0, stderr: '' });
    expect(fetchNode()).toMatchObject({ status: 0, stderr: '' });
    expect(await calls()).toBe('rebuild node --ignore-scripts=false\n');
  });

  test('is not required if npm has none and the installed Node is new enough', async () => {
    const { fetchNode } = await openCheckout('exit 1');
    expect(fetchNode()).toMatchObject({ status: 0, stderr: '' });
  });

  test('is required if npm has none and the installed Node is older', async () => {
    const { fetchNode } = await openCheckout('exit 1');
    const { status, stderr } = fetchNode(
      '--import',
      `data:text/javascript,${encodeURIComponent(OLDER_NODE)}`,
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/install Node 24 or newer, and repeat/);
  });
});
