// node graph-of-many-users.ts USERS: the fingerprint of a graph in which every user has one node.
import { fingerprintOf } from '../../../lib/migration/graph/fingerprint.ts';

const USERS = Number(process.argv[2]);

const contents = await fingerprintOf({
  nodes: async function* () {
    for (let n = 0; n < USERS; n += 1) {
      yield { id: `n${n}`, labels: ['person'], properties: { user_id: `user-${n}` } };
    }
  },
  relationships: async function* () {},
});
console.log(JSON.stringify(contents));
