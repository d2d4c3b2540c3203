// Keeps the progress of a verification in a file, so that the next process resumes where the last one stopped.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type {
  Progress,
  VerificationPosition,
} from '../../lib/ledger/store/verification/verification.ts';
import { LOCAL_FOLDER } from '../../processes/caches.ts';

/** Format version of a stored position. A position in another format is ignored. */
const FORMAT_VERSION = 1;

/** After this time the verification starts again: data that was already read may have been damaged since. */
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;

export interface FileProgress extends Progress {
  readonly file: string;
}

/** @param identity ids that together name the table, its account and the ledger */
export function openFileProgress(...identity: readonly string[]): FileProgress {
  const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  const file = join(LOCAL_FOLDER, 'verify-ledger', name);
  return {
    file,
    async load() {
      try {
        const { mtimeMs } = await stat(file);
        if (Date.now() - mtimeMs > MAX_AGE_MS) return undefined;
        const savedState = deserialize(await readFile(file)) as {
          form: number;
          position: VerificationPosition;
        };
        return savedState.form === FORMAT_VERSION ? savedState.position : undefined;
      } catch {
        // Without a readable file, the ledger is read from its beginning.
        return undefined;
      }
    },
    async save(position) {
      await mkdir(dirname(file), { recursive: true });
      // Only this user can read the file, because it contains external ids and wrong rows. A process killed before the rename
      // leaves the earlier position.
      await writeFile(`${file}.new`, serialize({ form: FORMAT_VERSION, position }), {
        mode: 0o600,
      });
      await rename(`${file}.new`, file);
    },
    clear: () => rm(file, { force: true }),
  };
}
