// Services whose remote calls a test counts: the test can stop the process before a call, or act after a call.
import type { Services } from '../../../lib/migration/services.ts';

export interface Call {
  /** Position of the call, from 1 */
  readonly number: number;
  /** Service and method, such as `vectors.upsert` */
  readonly name: string;
  /** True if the call changes nothing in the service */
  readonly isRead: boolean;
}

interface Watcher {
  /** Throws to prevent the call. */
  readonly before?: (call: Call) => void;
  /** Called when a call has succeeded; for a stream, when the caller has read it to the end. */
  readonly after?: (call: Call) => Promise<void> | void;
}

const BACKEND_READS = [
  'health',
  'search',
  'findBestMatch',
  'countMemories',
  'isGraphDeprecated',
] as const;

/** The remote services, each with the calls that change nothing */
const READS = {
  runs: ['read', 'readCheckpoint', 'confirmedBy', 'maxRate'],
  lock: ['activeRun', 'currentRun', 'assertFree', 'assertCanTake', 'retainedRuns', 'knownRuns'],
  vectors: [
    'fetchVersion',
    'isReady',
    'countNodes',
    'listShardStates',
    'listCollections',
    'collectionExists',
    'readCollectionInfo',
    'listAliases',
    'count',
    'facet',
    'scroll',
    'retrieve',
    'search',
    'encodesKeywords',
    'listSnapshots',
    'downloadSnapshot',
    'countRestoredPoints',
    'probeUpload',
  ],
  artifacts: ['find', 'get', 'list'],
  setting: ['read'],
  backend: BACKEND_READS,
  preview: BACKEND_READS,
  hooks: [],
  graph: [
    'readServer',
    'readSize',
    'readPosition',
    'readSchema',
    'streamNodes',
    'streamRelationships',
  ],
} satisfies { [Name in keyof Services]?: readonly (keyof NonNullable<Services[Name]>)[] };

export function watchCalls(services: Services, { before, after }: Watcher): Services {
  let calls = 0;

  async function* reportEnd(stream: AsyncIterable<unknown>, call: Call) {
    yield* stream;
    await after?.(call);
  }

  function watch(port: object, portName: string, reads: readonly string[]): object {
    const entries = Object.entries(port).map(([name, method]) => {
      if (typeof method !== 'function') return [name, method];
      const callWatched = (...args: unknown[]) => {
        calls += 1;
        const call = { number: calls, name: `${portName}.${name}`, isRead: reads.includes(name) };
        before?.(call);
        const result: unknown = method(...args);
        if (!(result instanceof Promise)) return reportEnd(result as AsyncIterable<unknown>, call);
        return result.then(async (value) => {
          await after?.(call);
          return value;
        });
      };
      return [name, callWatched];
    });
    return Object.fromEntries(entries);
  }

  const watched = Object.entries(READS).map(([name, reads]) => {
    const port = services[name as keyof typeof READS];
    return [name, port && watch(port, name, reads)];
  });
  return { ...services, ...Object.fromEntries(watched) };
}
