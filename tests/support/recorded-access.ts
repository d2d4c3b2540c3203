// A door to the database that writes down what was asked of it, in the terms of permissions.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { API_KEYS, TABLE, type TableAccess } from './granted-access.ts';

export interface RecordingDoor {
  readonly endpoint: string;
  /** From here on what is asked is written down for this name. */
  recordFor(name: string): void;
  accessOf(name: string): TableAccess;
  close(): Promise<void>;
}

interface Request {
  readonly IndexName?: string;
  readonly Key?: Key;
  readonly TransactItems?: readonly Record<string, { readonly Key?: Key }>[];
}

interface Key {
  readonly pk: { readonly S: string };
}

export async function openRecordingDoor(database: string): Promise<RecordingDoor> {
  const asked = new Map<string, Set<string>>();
  let current = '';
  const server = createServer(async (request, response) => {
    const body = await text(request);
    for (const permission of permissionsFor(request, JSON.parse(body))) {
      asked.get(current)?.add(permission);
    }
    const headers = request.headers as Record<string, string>;
    const answer = await fetch(database, { method: 'POST', headers: withoutHop(headers), body });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    recordFor(name) {
      current = name;
      if (!asked.has(name)) asked.set(name, new Set());
    },
    accessOf: (name) => toAccess(asked.get(name) ?? new Set()),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

// A transaction needs no permission of its own, but that of each of its parts.
function permissionsFor({ headers }: IncomingMessage, body: Request): string[] {
  const operation = String(headers['x-amz-target']).replace(/^.*\./, '');
  const parts = body.TransactItems?.flatMap((item) => Object.entries(item));
  if (parts) return parts.map(([kind, { Key }]) => `${kind}Item ${placeOf(Key)}`);
  return [`${operation} ${body.IndexName ?? placeOf(body.Key)}`];
}

// The roles grant these partitions by themselves.
function placeOf(key: Key | undefined): string {
  const partition = key?.pk.S ?? '';
  return [API_KEYS, 'HEALTH'].includes(partition) ? partition : TABLE;
}

function toAccess(permissions: ReadonlySet<string>): TableAccess {
  const access: TableAccess = {};
  for (const permission of permissions) {
    const [operation = '', ...reached] = permission.split(' ');
    access[operation] = [...(access[operation] ?? []), reached.join(' ')].sort();
  }
  return access;
}

function withoutHop({ connection, host, 'content-length': _, ...rest }: Record<string, string>) {
  return rest;
}
