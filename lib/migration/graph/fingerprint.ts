// What a graph holds, whatever its ids and its order: two graphs with the same fingerprint hold the same.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canonical } from '../json/json-text.ts';
import { createDigestSum, userHash } from '../points.ts';
import { Refusal } from '../refusals.ts';
import { createUserCounts } from '../user-counts.ts';
import type { GraphNode, GraphRelationship } from './graph-store.ts';
import type { Properties } from './values.ts';

export interface GraphFingerprint {
  readonly nodes: number;
  readonly relationships: number;
  /** Of labels and properties of all nodes. */
  readonly nodesDigest: string;
  /** Of types and properties of all relationships, and of the nodes at their ends. */
  readonly relationshipsDigest: string;
  /** That have nodes. */
  readonly users: number;
  /** Of the user of every node: graphs with the same one have as many nodes of each user. */
  readonly usersDigest: string;
  /** By label and type, under names such as "nodesPerLabel Person". */
  readonly counts: Readonly<Record<string, number>>;
}

export type FingerprintBuilder = ReturnType<typeof createFingerprint>;

export function createFingerprint() {
  const digests = createNodeDigests();
  const [nodes, relationships] = [createDigestSum(), createDigestSum()];
  const found = { nodes: 0, relationships: 0 };
  const counts = new Map<string, number>();
  const [users, usersDigest] = [createUserCounts(), createDigestSum()];

  function count(name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  function countUser(user: Buffer): void {
    users.add(user);
    usersDigest.add(user);
  }

  function addNode({ id, labels: own, properties }: GraphNode): void {
    const digest = sha256([[...own].sort(), properties]);
    digests.add(id, digest);
    nodes.add(digest);
    found.nodes += 1;
    for (const label of own) count(`nodesPerLabel ${label}`);
    const { user_id: user } = properties;
    if (typeof user === 'string') countUser(userHash(user));
    else count('nodesWithoutUser');
  }

  function endDigest(relationship: GraphRelationship, end: 'start' | 'end'): string {
    const digest = digests.get(relationship[end]);
    if (digest) return Buffer.from(digest).toString('hex');
    const why = `Relationship ${relationship.id} has no node at its ${end}, which was ${relationship[end]}.`;
    throw new Refusal('RefusedByService', why);
  }

  /** After all nodes. @throws Refusal when a node at an end is missing */
  function addRelationship(relationship: GraphRelationship): void {
    const { type, properties } = relationship;
    const ends = [endDigest(relationship, 'start'), endDigest(relationship, 'end')];
    relationships.add(sha256([...ends, type, properties]));
    found.relationships += 1;
    count(`relationshipsPerType ${type}`);
    // They are deleted softly.
    if (properties.valid === false) count('invalidRelationships');
  }

  const result = (): GraphFingerprint => ({
    ...found,
    users: users.size(),
    usersDigest: usersDigest.text(),
    counts: Object.fromEntries(counts),
    nodesDigest: nodes.text(),
    relationshipsDigest: relationships.text(),
  });

  return { addNode, addRelationship, result, [Symbol.dispose]: () => digests[Symbol.dispose]() };
}

export async function fingerprintOf(graph: {
  nodes(): AsyncIterable<GraphNode>;
  relationships(): AsyncIterable<GraphRelationship>;
}): Promise<GraphFingerprint> {
  using fingerprint = createFingerprint();
  for await (const node of graph.nodes()) fingerprint.addNode(node);
  for await (const relationship of graph.relationships()) fingerprint.addRelationship(relationship);
  return fingerprint.result();
}

function sha256(content: readonly (string | readonly string[] | Properties)[]): Buffer {
  return hash('sha256', canonical(content), 'buffer');
}

// The digest of every node by its id, in a temporary file: a graph may have more nodes than memory has room for.
function createNodeDigests() {
  const folder = mkdtempSync(join(tmpdir(), 'node-digests-'));
  const database = new DatabaseSync(join(folder, 'digests.db'));
  // Nothing in it outlives the process: no need to survive a crash.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.exec('CREATE TABLE nodes (id TEXT PRIMARY KEY, digest BLOB) WITHOUT ROWID; BEGIN');
  const insert = database.prepare('INSERT OR REPLACE INTO nodes VALUES (?, ?)');
  const select = database.prepare('SELECT digest FROM nodes WHERE id = ?');
  return {
    add: (id: string, digest: Uint8Array) => {
      insert.run(id, digest);
    },
    get: (id: string) => {
      const row = select.get(id);
      return row?.digest instanceof Uint8Array ? row.digest : undefined;
    },
    [Symbol.dispose]: () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
