// Files that the import command refuses to open, each with a reason.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readBytes } from '../../../../../cli/ledger/import/read-file.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'read-file-'));
const FILE = join(FOLDER, 'small.csv');
const PIPE = join(FOLDER, 'pipe');
const LARGE = join(FOLDER, 'large.csv');
writeFileSync(FILE, 'date');
execFileSync('sh', ['-c', 'mkfifo "$0"', PIPE]);
// The file is sparse, so it takes no space on the disk.
writeFileSync(LARGE, '');
truncateSync(LARGE, 2 ** 28 + 1);
afterAll(() => rmSync(FOLDER, { recursive: true }));

it('reads a file', () => {
  expect(Buffer.from(readBytes(FILE)).toString()).toBe('date');
});

it.each([
  ['/dev/zero', 'it is a device or a pipe. Save its contents as a file first'],
  [PIPE, 'it is a device or a pipe. Save its contents as a file first'],
  [LARGE, 'it has more than 256 MiB. Download a shorter period'],
  [FOLDER, 'it is a folder'],
  [join(FOLDER, 'missing.csv'), 'it does not exist'],
])('refuses %s', (file, reason) => {
  expect(() => readBytes(file)).toThrow(`The file ${file} cannot be read: ${reason}.`);
});
