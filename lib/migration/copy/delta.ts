// The second pass: whatever was written to the source since the copy, deletions too, by comparing everything.
// Before cutover only: the source is right wherever the two differ.

import { keywordTextOf } from '../json/memory-payload.ts';
import type { StepPorts } from '../ports/step-ports.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { samePayload } from '../proof/point-digest.ts';
import { TOLERANCE, vectorDifference } from '../proof/vector-comparison.ts';
import type { CollectionPlace } from './collection-pages.ts';
import { hasKeywords } from './keyword-slot.ts';
import { type PointPair, pairedPoints } from './paired-points.ts';
import type { PointWriter } from './point-writer.ts';

/** Plain JSON. */
export interface DeltaCheckpoint {
  readonly isComplete: boolean;
  /** The first point not looked at yet. */
  readonly nextOffset: PointId | null;
  readonly compared: number;
  readonly inserted: number;
  readonly replaced: number;
  /** Equal but for a keyword vector that was missing. */
  readonly refilled: number;
  readonly deleted: number;
}

export interface DeltaSettings {
  readonly source: CollectionPlace;
  readonly target: CollectionPlace;
  readonly writer: PointWriter;
  readonly pageSize: number;
}

export const DELTA_START: DeltaCheckpoint = {
  isComplete: false,
  nextOffset: null,
  compared: 0,
  inserted: 0,
  replaced: 0,
  refilled: 0,
  deleted: 0,
};

interface Changes {
  readonly inserts: ScrolledPoint[];
  readonly replacements: ScrolledPoint[];
  readonly refills: ScrolledPoint[];
  readonly deletions: PointId[];
}

export async function copyDelta(
  settings: DeltaSettings,
  ports: StepPorts<DeltaCheckpoint>,
  from: DeltaCheckpoint = DELTA_START,
): Promise<DeltaCheckpoint> {
  if (from.isComplete) return from;
  const request = { limit: settings.pageSize, offset: from.nextOffset };
  const pairs = pairedPoints({ ...settings.source, request }, { ...settings.target, request });
  let checkpoint = from;
  let batch: PointPair[] = [];

  async function settle(nextOffset: PointId | null): Promise<void> {
    const changes = changesIn(batch, settings.writer);
    await apply(settings, changes, ports);
    checkpoint = advanced(checkpoint, batch.length, changes, nextOffset);
    batch = [];
    await ports.saveCheckpoint(checkpoint);
  }

  for await (const pair of pairs) {
    if (batch.length >= settings.pageSize) {
      await settle(pair.id);
      if (ports.isTimeUp?.()) return checkpoint;
    }
    batch.push(pair);
  }
  await settle(null);
  return checkpoint;
}

function changesIn(pairs: readonly PointPair[], { fillsKeywords }: PointWriter): Changes {
  const changes: Changes = { inserts: [], replacements: [], refills: [], deletions: [] };
  for (const { id, source, target } of pairs) {
    if (!source) changes.deletions.push(id);
    else if (!target) changes.inserts.push(source);
    else if (!isSame(source, target)) changes.replacements.push(source);
    else if (fillsKeywords && lacksKeywords(target)) changes.refills.push(source);
  }
  return changes;
}

function isSame(source: ScrolledPoint, target: ScrolledPoint): boolean {
  return (
    samePayload(source.payload, target.payload) &&
    vectorDifference(source.vector, target.vector) <= TOLERANCE
  );
}

function lacksKeywords({ payload, vector }: ScrolledPoint): boolean {
  return !hasKeywords(vector) && keywordTextOf(payload) !== undefined;
}

async function apply(
  { target, writer }: DeltaSettings,
  changes: Changes,
  { assertTurn }: Pick<StepPorts<never>, 'assertTurn'>,
): Promise<void> {
  const { inserts, replacements, refills, deletions } = changes;
  const replaced = [...replacements, ...refills];
  if (inserts.length > 0) await writer.insert(inserts);
  if (replaced.length > 0) await writer.replace(replaced);
  if (deletions.length === 0) return;
  await assertTurn?.();
  await target.store.deletePoints(target.collection, { ids: deletions });
}

function advanced(
  before: DeltaCheckpoint,
  compared: number,
  { inserts, replacements, refills, deletions }: Changes,
  nextOffset: PointId | null,
): DeltaCheckpoint {
  return {
    isComplete: nextOffset === null,
    nextOffset,
    compared: before.compared + compared,
    inserted: before.inserted + inserts.length,
    replaced: before.replaced + replacements.length,
    refilled: before.refilled + refills.length,
    deleted: before.deleted + deletions.length,
  };
}
