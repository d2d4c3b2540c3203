// Services of a process that is killed before or after one of its remote calls: from then on nothing it does arrives.
import type { Services } from '../../../lib/migration/services.ts';

export interface Death {
  /** From 1. */
  readonly call: number;
  readonly moment: 'before' | 'after';
}

export class Killed extends Error {
  override readonly name = 'Killed';
}

interface Mortal {
  readonly services: Services;
  /**
   * The deaths that differ to those who come after: before the first call made until now, and after each that may have
   * changed something. After any other, everything outside is as it was after the call before.
   */
  deaths(): Death[];
}

const READS_OF_BACKEND = [
  'health',
  'search',
  'bestMatch',
  'memoryCount',
  'isGraphDeprecated',
] as const;

/** The remote services, and the calls that change nothing there. */
const READS = {
  runs: ['read', 'readCheckpoint', 'confirmedBy', 'maxRate'],
  lock: ['activeRun', 'presentRun', 'assertFree', 'assertTurn', 'retainedRuns', 'knownRuns'],
  vectors: [
    'version',
    'isReady',
    'nodeCount',
    'shardStates',
    'listCollections',
    'collectionExists',
    'collectionInfo',
    'listAliases',
    'count',
    'scroll',
    'retrieve',
    'search',
    'encodesKeywords',
    'listSnapshots',
    'downloadSnapshot',
    'restoredPoints',
  ],
  artifacts: ['head', 'get', 'list'],
  setting: ['read'],
  backend: READS_OF_BACKEND,
  preview: READS_OF_BACKEND,
  hooks: [],
  graph: ['server', 'size', 'position', 'schema', 'nodes', 'relationships'],
} satisfies { [Name in keyof Services]?: readonly (keyof NonNullable<Services[Name]>)[] };

/** @param death of the process; it lives on without one */
export function mortal(services: Services, death?: Death): Mortal {
  let calls = 0;
  let isDead = false;
  const deaths: Death[] = [{ call: 1, moment: 'before' }];

  function die(): never {
    isDead = true;
    throw new Killed();
  }

  // A stream is over when it has been read to its end.
  async function* dying(stream: AsyncIterable<unknown>) {
    yield* stream;
    die();
  }

  function wrap<Port extends object>(port: Port, reads: readonly string[]): Port {
    const entries = Object.entries(port).map(([name, method]) => {
      if (typeof method !== 'function') return [name, method];
      const mortalMethod = (...args: unknown[]) => {
        if (isDead) throw new Killed();
        calls += 1;
        if (!reads.includes(name)) deaths.push({ call: calls, moment: 'after' });
        const isLast = calls === death?.call;
        if (isLast && death?.moment === 'before') die();
        const result: unknown = method(...args);
        if (!isLast) return result;
        return result instanceof Promise
          ? result.then(die)
          : dying(result as AsyncIterable<unknown>);
      };
      return [name, mortalMethod];
    });
    return Object.fromEntries(entries) as Port;
  }

  const wrapped = Object.entries(READS).map(([name, reads]) => {
    const port = services[name as keyof typeof READS];
    return [name, port && wrap(port, reads)];
  });
  return { services: { ...services, ...Object.fromEntries(wrapped) }, deaths: () => deaths };
}
