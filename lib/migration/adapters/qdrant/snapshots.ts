// Snapshots over Qdrant's REST: never waited for in one silent request, never held in memory.
import type { Schemas } from '@qdrant/js-client-rest';
import type { SnapshotPart, VectorSnapshots } from '../../ports/vector-store.ts';
import { UnexpectedReplyError } from '../../ports/vector-store-errors.ts';
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

  async function downloadSnapshot(collection: string, name: string, fromByte = 0) {
    const call = {
      path: fileOf(collection, name),
      // A compressed answer would have neither a length nor ranges.
      headers: {
        'accept-encoding': 'identity',
        ...(fromByte > 0 ? { range: `bytes=${fromByte}-` } : {}),
      },
    };
    const watchdog = createWatchdog(transport.timeoutMs);
    const reply = await open(call, watchdog.signal);
    return toPart(`GET ${call.path}`, reply, fromByte, watchdog);
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

function toPart(call: string, reply: Response, fromByte: number, watchdog: Watchdog): SnapshotPart {
  const { status, headers, body } = reply;
  if (!body) {
    watchdog.stop();
    throw new UnexpectedReplyError(`${call}: ${status} without a body`);
  }
  // A store that keeps its snapshots in object storage knows no ranges, and sends all of it.
  const skipped = status === 206 ? 0 : fromByte;
  const length = headers.get('content-length');
  const totalBytes = length === null ? undefined : fromByte - skipped + Number(length);
  return { totalBytes, bytes: without(skipped, watched(call, body, watchdog)) };
}

async function* without(first: number, bytes: AsyncIterable<Uint8Array>) {
  let left = first;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

async function* watched(call: string, body: AsyncIterable<Uint8Array>, watchdog: Watchdog) {
  try {
    for await (const chunk of body) {
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
