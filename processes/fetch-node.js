// npm run setup: downloads this project's version of Node, which runs everything else here. An install runs no package scripts, so
// this file runs the script that downloads Node. Any older Node can run this file.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MIN_MAJOR_VERSION = 24;
const COMMAND = 'npm rebuild node --ignore-scripts=false';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = process.platform === 'win32' ? 'node.exe' : 'node';
const isFetched = () => existsSync(`${root}node_modules/node/bin/${program}`);

if (!isFetched()) {
  spawnSync(COMMAND, { cwd: root, shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= MIN_MAJOR_VERSION;
  if (!isFetched() && !isNewEnough) {
    console.error(
      `"${COMMAND}" fetched no Node for ${process.platform} ${process.arch}, and yours is ${process.version}: install Node ${MIN_MAJOR_VERSION} or newer, and repeat.`,
    );
    process.exitCode = 1;
  }
}
