// The digest of every node by its id, in a temporary file: a graph may have more nodes than memory has room for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface NodeDigests extends Disposable {
  add(id: string, digest: Uint8Array): void;
  get(id: string): Uint8Array | undefined;
}

export function createNodeDigests(): NodeDigests {
  const folder = mkdtempSync(join(tmpdir(), 'node-digests-'));
  const database = new DatabaseSync(join(folder, 'digests.db'));
  // Nothing in it outlives the process: no need to survive a crash.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.exec('CREATE TABLE nodes (id TEXT PRIMARY KEY, digest BLOB) WITHOUT ROWID; BEGIN');
  const insert = database.prepare('INSERT OR REPLACE INTO nodes VALUES (?, ?)');
  const select = database.prepare('SELECT digest FROM nodes WHERE id = ?');
  return {
    add: (id, digest) => {
      insert.run(id, digest);
    },
    get: (id) => {
      const row = select.get(id);
      return row?.digest instanceof Uint8Array ? row.digest : undefined;
    },
    [Symbol.dispose]: () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
