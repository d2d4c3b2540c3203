// npm run setup: puts the Node of this project, which runs everything else here, beside its packages. An install runs no script of
// any package, so the one that fetches Node is run by name. Any older Node can read this file.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OLDEST_MAJOR = 24;
const COMMAND = 'npm rebuild node --ignore-scripts=false';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = process.platform === 'win32' ? 'node.exe' : 'node';
const isFetched = () => existsSync(`${root}node_modules/node/bin/${program}`);

if (!isFetched()) {
  spawnSync(COMMAND, { cwd: root, shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= OLDEST_MAJOR;
  if (!isFetched() && !isNewEnough) {
    console.error(
      `"${COMMAND}" fetched no Node for ${process.platform} ${process.arch}, and yours is ${process.version}: install Node ${OLDEST_MAJOR} or newer, and repeat.`,
    );
    process.exitCode = 1;
  }
}
