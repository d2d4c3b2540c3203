// Snapshots over Qdrant's REST: never waited for in one silent request, never held in memory.
import type { Schemas } from '@qdrant/js-client-rest';
import type { SnapshotPart, VectorSnapshots } from '../../ports/vector-store.ts';
import { toUnavailable } from './failures.ts';
import { pathOf } from './paths.ts';
import type { Transport } from './transport.ts';
import { createUpload } from './upload.ts';

export function createQdrantSnapshots(transport: Transport): VectorSnapshots {
  const { text, result, open } = transport;

  // With wait=false the answer is a 202 that says nothing yet.
  async function startSnapshot(collection: string): Promise<void> {
    const path = pathOf(collection, '/snapshots?wait=false');
    await text({ method: 'POST', path, again: false });
  }

  async function listSnapshots(collection: string): Promise<Schemas['SnapshotDescription'][]> {
    return result({ path: pathOf(collection, '/snapshots') });
  }

  async function downloadSnapshot(
    collection: string,
    name: string,
    fromByte = 0,
  ): Promise<SnapshotPart> {
    const path = fileOf(collection, name);
    const { totalBytes, bytes } = await openFile(path, fromByte);
    return { totalBytes, bytes: continued(path, { fromByte, totalBytes, bytes }) };
  }

  async function openFile(path: string, fromByte: number): Promise<SnapshotPart> {
    const range = fromByte > 0 ? { range: `bytes=${fromByte}-` } : {};
    // A compressed response would have neither a length nor ranges.
    const headers = { 'accept-encoding': 'identity', ...range };
    const watchdog = createWatchdog(transport.timeoutMs);
    const response = await open({ path, headers }, watchdog.signal);
    return toPart(`GET ${path}`, response, fromByte, watchdog);
  }

  // A connection may end early at any byte. Each one that brought something is followed by another.
  async function* continued(path: string, start: SnapshotPart & { readonly fromByte: number }) {
    let { fromByte: position, bytes } = start;
    const { totalBytes = 0 } = start;
    for (;;) {
      const opened = position;
      let failure: unknown;
      try {
        for await (const chunk of bytes) {
          position += chunk.length;
          yield chunk;
        }
        if (position >= totalBytes) return;
      } catch (error) {
        failure = error;
      }
      if (position === opened) throw failure ?? toUnavailable(`GET ${path}`, 'no bytes');
      ({ bytes } = await openFile(path, position));
    }
  }

  async function deleteSnapshot(collection: string, name: string): Promise<void> {
    await result({ method: 'DELETE', path: `${fileOf(collection, name)}?wait=true` });
  }

  return {
    startSnapshot,
    listSnapshots,
    downloadSnapshot,
    deleteSnapshot,
    uploadSnapshot: createUpload(transport),
  };
}

function fileOf(collection: string, name: string): string {
  return pathOf(collection, `/snapshots/${encodeURIComponent(name)}`);
}

function toPart(
  call: string,
  response: Response,
  fromByte: number,
  watchdog: Watchdog,
): SnapshotPart {
  const { status, headers } = response;
  // A store that keeps its snapshots in object storage knows no ranges, and sends all of it.
  const skipped = status === 206 ? 0 : fromByte;
  const length = headers.get('content-length');
  const totalBytes = length === null ? undefined : fromByte - skipped + Number(length);
  return { totalBytes, bytes: without(skipped, watched(call, response, watchdog)) };
}

async function* without(first: number, bytes: AsyncIterable<Uint8Array>) {
  let left = first;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

// Takes the whole response: fetch cancels a body without an error once its Response is garbage-collected.
async function* watched(call: string, response: Response, watchdog: Watchdog) {
  try {
    for await (const chunk of response.body ?? []) {
      watchdog.stop();
      yield chunk;
      watchdog.start();
    }
  } catch (cause) {
    throw toUnavailable(call, cause);
  } finally {
    watchdog.stop();
  }
}

type Watchdog = ReturnType<typeof createWatchdog>;

// A download may take any time, and so may whoever takes the bytes; a silence of the store may not.
function createWatchdog(silenceMs: number) {
  const controller = new AbortController();
  const bark = () => controller.abort(new Error(`${silenceMs} ms silent`));
  let timer = setTimeout(bark, silenceMs);
  return {
    signal: controller.signal,
    start() {
      timer = setTimeout(bark, silenceMs);
    },
    stop: () => clearTimeout(timer),
  };
}
