// The artifact store in memory, which other tests use, passes the contract of real ones.
import { createMemoryArtifacts } from '../../support/memory-artifacts.ts';
import { describeArtifactStore, describeEndOfRetention } from './artifact-store.ts';

async function open() {
  let offsetMs = 0;
  const { store, stored } = createMemoryArtifacts(() => new Date(Date.now() + offsetMs));
  return {
    store,
    async plantUnfinished(key: string, content: string) {
      stored.set(key, { content: Buffer.from(content) });
    },
    listAllKeys: async () => [...stored.keys()].sort(),
    advanceClock: (milliseconds: number) => {
      offsetMs += milliseconds;
    },
  };
}

describeArtifactStore('memory', open);
describeEndOfRetention('memory', open);
