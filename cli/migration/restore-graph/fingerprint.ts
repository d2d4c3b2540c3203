// Computes a fingerprint of a graph's contents, independent of ids and order.
import { hash } from 'node:crypto';
import type { GraphRelationship, GraphSource } from '../../../lib/migration/graph/graph-store.ts';
import type { Properties } from '../../../lib/migration/graph/values.ts';
import { canonicalize } from '../../../lib/migration/json/json-text.ts';
import { createDigestSum } from '../../../lib/migration/points.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';

export interface GraphFingerprint {
  readonly nodes: number;
  readonly relationships: number;
  /** Counts by label and type, under names such as "nodesPerLabel Person" */
  readonly counts: Readonly<Record<string, number>>;
  /** Digest of labels and properties of all nodes */
  readonly nodesDigest: string;
  /** Digest of types and properties of all relationships, and of the nodes at their ends */
  readonly relationshipsDigest: string;
}

/** Reads the whole graph. @throws Refusal if a node at the end of a relationship is missing */
export async function computeFingerprint(
  graph: Pick<GraphSource, 'streamNodes' | 'streamRelationships'>,
): Promise<GraphFingerprint> {
  const digests = new Map<string, string>();
  const counts = new Map<string, number>();
  const [nodesSum, relationshipsSum] = [createDigestSum(), createDigestSum()];
  let relationships = 0;

  function count(name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  function describeEnd(relationship: GraphRelationship, end: 'start' | 'end'): string {
    const digest = digests.get(relationship[end]);
    if (digest !== undefined) return digest;
    const why = `Relationship ${relationship.id} lacks the node ${relationship[end]} at its ${end}.`;
    throw new Refusal('RefusedByService', why);
  }

  for await (const { id, labels, properties } of graph.streamNodes()) {
    const digest = sha256([labels.toSorted(), properties]);
    nodesSum.add(digest);
    digests.set(id, digest.toString('base64'));
    for (const label of labels) count(`nodesPerLabel ${label}`);
  }
  for await (const relationship of graph.streamRelationships()) {
    const { type, properties } = relationship;
    const ends = [describeEnd(relationship, 'start'), describeEnd(relationship, 'end')];
    relationshipsSum.add(sha256([...ends, type, properties]));
    relationships += 1;
    count(`relationshipsPerType ${type}`);
  }
  return {
    nodes: digests.size,
    relationships,
    counts: Object.fromEntries(counts),
    nodesDigest: nodesSum.toHex(),
    relationshipsDigest: relationshipsSum.toHex(),
  };
}

function sha256(content: readonly (string | readonly string[] | Properties)[]): Buffer {
  return hash('sha256', canonicalize(content), 'buffer');
}
