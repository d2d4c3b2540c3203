// Describes the machine that runs the measurements.
import { createRequire } from 'node:module';
import { arch, availableParallelism, platform, totalmem } from 'node:os';

const BYTES_PER_GIGABYTE = 2 ** 30;

export function describeMachine(): string {
  const { version: engine } = createRequire(import.meta.url)('@dynoxide/linux-x64/package.json');
  const facts = [
    `${availableParallelism()} cores`,
    `${Math.round(totalmem() / BYTES_PER_GIGABYTE)} GB of memory`,
    `${platform()} ${arch()}`,
    `Node ${process.versions.node}`,
    `dynoxide ${engine}`,
  ];
  return facts.join(', ');
}
