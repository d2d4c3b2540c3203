// Counts the memories of each user. Users are named by a hash, so that their ids cannot be read. A million users take 50 MB
// outside the heap.
import { DatabaseSync } from 'node:sqlite';
import { splitIntoBatches } from './ports/artifacts.ts';

interface UserCount {
  /** Digest of the user, from `digestUser` */
  readonly user: string;
  readonly points: number;
}

export type UserCounts = ReturnType<typeof createUserCounts>;

export function createUserCounts() {
  const database = new DatabaseSync(':memory:');
  // One transaction is faster than one per statement. It is never committed: nothing needs to be kept.
  database.exec('CREATE TABLE users (user TEXT PRIMARY KEY, points INTEGER) WITHOUT ROWID; BEGIN');
  const insertOrAdd = database.prepare(
    'INSERT INTO users VALUES (?, ?) ON CONFLICT DO UPDATE SET points = points + excluded.points',
  );
  const countAll = database.prepare('SELECT count(*) AS users FROM users');
  const selectCounts = 'SELECT user, points FROM users WHERE points <> 0 ORDER BY';
  const selectByName = database.prepare(`${selectCounts} user`);
  const selectBySize = database.prepare(`${selectCounts} points DESC, user LIMIT ?`);
  const toCount = ({ user, points }: Record<string, unknown>): UserCount => ({
    user: String(user),
    points: Number(points),
  });
  return {
    countUsers: () => Number(countAll.get()?.users),
    add: (user: string, points = 1) => void insertOrAdd.run(user, points),
    listCounts: () => selectByName.iterate().map(toCount),
    /** Lists the users with the most memories, largest first. */
    listLargest: (limit: number) => selectBySize.all(limit).map(toCount),
  };
}

const LINES_PER_CHUNK = 2_000;

/** Formats one line for each user. */
export async function* formatUserCounts(counts: UserCounts): AsyncGenerator<Uint8Array> {
  for await (const batch of splitIntoBatches(counts.listCounts(), LINES_PER_CHUNK)) {
    yield Buffer.from(batch.map(({ user, points }) => `${user} ${points}\n`).join(''));
  }
}
