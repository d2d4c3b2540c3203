// The artifact store in memory, which other tests use, passes the contract of real ones.
import { createMemoryArtifacts } from '../../support/memory-artifacts.ts';
import { describeArtifactStore, describeEndOfRetention } from './artifact-store.ts';

async function open() {
  let later = 0;
  const { store, held } = createMemoryArtifacts(() => new Date(Date.now() + later));
  return {
    store,
    async plantUnfinished(key: string, content: string) {
      held.set(key, { content: Buffer.from(content) });
    },
    everything: async () => [...held.keys()].sort(),
    passTime: (milliseconds: number) => {
      later += milliseconds;
    },
  };
}

describeArtifactStore('memory', open);
describeEndOfRetention('memory', open);
