// Whether a graph holds what a dump recorded, and where it does not.
import { isDeepStrictEqual } from 'node:util';
import type { Counts, GraphFingerprint } from './fingerprint.ts';
import type { SchemaRule } from './graph-store.ts';

export interface GraphDifference {
  /** e.g. "nodes", "nodesPerLabel Person" */
  readonly what: string;
  readonly wanted: number | string;
  readonly found: number | string;
}

const TOTALS = [
  'nodes',
  'relationships',
  'nodesWithoutUser',
  'validRelationships',
  'invalidRelationships',
  'nodesDigest',
  'relationshipsDigest',
] as const;

const PARTS = ['nodesPerLabel', 'relationshipsPerType', 'nodesPerUser'] as const;

/** Empty when both hold the same; counts come first, and tell more than digests do. */
export function compareFingerprints(
  wanted: GraphFingerprint,
  found: GraphFingerprint,
): GraphDifference[] {
  const totals = TOTALS.filter((what) => wanted[what] !== found[what]);
  return [
    ...totals.map((what) => ({ what, wanted: wanted[what], found: found[what] })),
    ...PARTS.flatMap((part) => compareCounts(part, wanted[part], found[part])),
  ];
}

/** Empty when everything wanted is there; what is there beside it does no harm. */
export function compareSchema(
  wanted: readonly SchemaRule[],
  found: readonly SchemaRule[],
): GraphDifference[] {
  return wanted
    .filter((rule) => rule.type !== 'LOOKUP')
    .map((rule) => ({ rule, same: found.find(({ name }) => name === rule.name) }))
    .filter(({ rule, same }) => !isDeepStrictEqual(rule, same))
    .map(({ rule, same }) => ({
      what: `schema ${rule.name}`,
      wanted: rule.statement,
      found: same?.statement ?? 'nothing',
    }));
}

function compareCounts(part: string, wanted: Counts, found: Counts): GraphDifference[] {
  const [wantedOf, foundOf] = [wanted, found].map((counts) => new Map(Object.entries(counts)));
  return [...new Set([...Object.keys(wanted), ...Object.keys(found)])]
    .map((key) => ({
      what: `${part} ${key}`,
      wanted: wantedOf?.get(key) ?? 0,
      found: foundOf?.get(key) ?? 0,
    }))
    .filter((difference) => difference.wanted !== difference.found);
}
