// Proves two collections equal: ids, payloads, users, vectors and keyword vectors, point by point, in constant memory.
import { createHash } from 'node:crypto';
import type { CollectionPlace } from '../copy/collection-pages.ts';
import { KEYWORD_SLOT } from '../copy/keyword-slot.ts';
import { type PointPair, pairedPoints } from '../copy/paired-points.ts';
import type { StepPorts } from '../ports/step-ports.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { vectorDifference } from './vector-comparison.ts';
import {
  type Findings,
  NOTHING_FOUND,
  toReport,
  type VerificationReport,
  withPair,
  withVectorDifference,
} from './verification-findings.ts';

/** Plain JSON, and small, however many points and users there are. */
export interface VerificationCheckpoint {
  readonly isComplete: boolean;
  readonly nextOffset: PointId | null;
  readonly findings: Findings;
}

/** Every vector, or about that many of them, the same ones for the same seed. */
export type VectorCheck = 'all' | { readonly sample: number; readonly seed: string };

export interface VerificationSettings {
  readonly source: CollectionPlace;
  readonly target: CollectionPlace;
  readonly pageSize: number;
  readonly vectors: VectorCheck;
  /** Points with text and without keyword vector that an operator has accepted in so many words. */
  readonly acceptedKeywordGaps?: number;
}

export type VerificationOutcome =
  | { readonly checkpoint: VerificationCheckpoint; readonly report?: undefined }
  | { readonly checkpoint: VerificationCheckpoint; readonly report: VerificationReport };

export const VERIFICATION_START: VerificationCheckpoint = {
  isComplete: false,
  nextOffset: null,
  findings: NOTHING_FOUND,
};

/** Without a report when time was up: to be invoked again from the checkpoint. */
export async function verifyCopy(
  settings: VerificationSettings,
  ports: StepPorts<VerificationCheckpoint>,
  from: VerificationCheckpoint = VERIFICATION_START,
): Promise<VerificationOutcome> {
  const checkpoint = from.isComplete ? from : await compare(settings, ports, from);
  if (!checkpoint.isComplete) return { checkpoint };
  const [source, target] = await Promise.all([countOf(settings.source), countOf(settings.target)]);
  const { acceptedKeywordGaps = 0 } = settings;
  const counts = { source, target };
  return { checkpoint, report: toReport(checkpoint.findings, counts, acceptedKeywordGaps) };
}

async function compare(
  settings: VerificationSettings,
  ports: StepPorts<VerificationCheckpoint>,
  from: VerificationCheckpoint,
): Promise<VerificationCheckpoint> {
  const isChosen = chooser(settings.vectors, await countOf(settings.source));
  let findings = from.findings;
  let batch: PointPair[] = [];

  async function settle(nextOffset: PointId | null): Promise<VerificationCheckpoint> {
    findings = await withBatch(settings, findings, batch, isChosen);
    batch = [];
    const checkpoint = { isComplete: nextOffset === null, nextOffset, findings };
    await ports.saveCheckpoint(checkpoint);
    return checkpoint;
  }

  for await (const pair of pairsOf(settings, from.nextOffset)) {
    if (batch.length >= settings.pageSize) {
      const checkpoint = await settle(pair.id);
      if (ports.isTimeUp?.()) return checkpoint;
    }
    batch.push(pair);
  }
  return settle(null);
}

// For a sample the dense vectors are fetched by id; keyword vectors are looked at everywhere.
function pairsOf(
  { source, target, pageSize, vectors }: VerificationSettings,
  offset: PointId | null,
) {
  const isAll = vectors === 'all';
  const request = { limit: pageSize, offset };
  return pairedPoints(
    { ...source, request: { ...request, vector: isAll } },
    { ...target, request: { ...request, vector: isAll || [KEYWORD_SLOT] } },
  );
}

async function withBatch(
  settings: VerificationSettings,
  before: Findings,
  batch: readonly PointPair[],
  isChosen: (id: PointId) => boolean,
): Promise<Findings> {
  const findings = batch.reduce(withPair, before);
  const common = batch.filter(({ source, target }) => source && target);
  const chosen = common.filter(({ id }) => isChosen(id));
  const pairs = settings.vectors === 'all' ? chosen : await fetchVectors(settings, chosen);
  return pairs.reduce(
    (found, { id, source, target }) =>
      withVectorDifference(found, id, vectorDifference(source?.vector, target?.vector)),
    findings,
  );
}

async function fetchVectors(
  { source, target }: VerificationSettings,
  pairs: readonly PointPair[],
): Promise<PointPair[]> {
  if (pairs.length === 0) return [];
  const ids = pairs.map(({ id }) => id);
  const [ours, theirs] = await Promise.all([vectorsOf(source, ids), vectorsOf(target, ids)]);
  return ids.map((id) => ({ id, source: ours.get(id), target: theirs.get(id) }));
}

async function vectorsOf({ store, collection }: CollectionPlace, ids: readonly PointId[]) {
  const points = await store.retrieve(collection, ids, { payload: false });
  return new Map<PointId, ScrolledPoint>(points.map((point) => [point.id, point]));
}

// A point is chosen by its id and the seed alone: a resumed run chooses the same ones.
function chooser(vectors: VectorCheck, total: number): (id: PointId) => boolean {
  if (vectors === 'all') return () => true;
  const share = vectors.sample / Math.max(1, total);
  return (id) => {
    const hash = createHash('sha256').update(`${vectors.seed}|${id}`).digest();
    return hash.readUInt32BE() / 2 ** 32 < share;
  };
}

function countOf({ store, collection }: CollectionPlace): Promise<number> {
  return store.count(collection);
}
