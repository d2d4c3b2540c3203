// node scan-many-users.ts USERS: scans a collection in which every user has one memory, and prints what it counted.
// Started with little heap, it shows that the counts of any number of users fit.

import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { scan } from '../../../lib/migration/scan.ts';

const USERS = Number(process.argv[2]);

const store: Pick<VectorStore, 'scroll'> = {
  async scroll(_, { offset, limit }) {
    const from = Number(offset ?? 0);
    const until = Math.min(USERS, from + limit);
    const points = Array.from({ length: until - from }, (_, at) => ({
      id: asJsonText<number>(String(from + at)),
      vector: undefined,
      payload: asJsonText<Record<string, unknown>>(`{"user_id":"user-${from + at}"}`),
    }));
    return { points, nextOffset: until < USERS ? asJsonText<number>(String(until)) : null };
  },
};

const { contents, counts } = await scan({ store, collection: 'memories' });
console.log(JSON.stringify({ ...contents, largest: counts.listLargest(1) }));
