// Judges the outcome of an act: how the act ended, and which memories users still have.
import { isRefusal, recoverWith } from '../../lib/migration/refusals.ts';
import { readManifest } from '../../lib/migration/runs/reports.ts';
import type { Run } from '../../lib/migration/runs/run.ts';
import type { Ending } from './acts/act.ts';
import type { TimelineEntry } from './diary.ts';
import { type Comparison, compareMemories, readMemories } from './memories.ts';
import type { Rehearsal } from './rehearsal.ts';

export interface Outcome extends Comparison {
  readonly phase: string;
  /** The collection on which users work at the end: `old`, `new`, `uploaded` or `restored`. */
  readonly worksOn: string;
  readonly acknowledgedLoss: number;
  readonly timeline: readonly TimelineEntry[];
  readonly surprises: readonly string[];
}

export async function judgeOutcome(
  rehearsal: Rehearsal,
  { phase: expectedPhase, expectedMemories, acknowledgedLoss = 0 }: Ending,
): Promise<Outcome> {
  const {
    parts,
    source,
    target,
    uploadAs,
    initialMemories,
    services,
    timeline,
    surprises,
    expect,
  } = rehearsal;
  const isUnknown = (error: unknown) => isRefusal(error, 'RefusedUnknownRun');
  const run = await rehearsal.run().catch(recoverWith(undefined, isUnknown));
  const phase = run?.phase ?? 'not begun';
  if (run) await expectGraphKept(rehearsal, run);
  if (phase !== expectedPhase) expect(`the run ends as ${expectedPhase}, not as ${phase}`, false);
  const active = await services.setting.read();
  const names = new Map([
    [source, 'old'],
    [target, 'new'],
    [uploadAs, 'uploaded'],
  ]);
  return {
    ...compareMemories(
      expectedMemories ?? initialMemories,
      await readMemories(parts.store.vectors, active),
    ),
    phase,
    worksOn: names.get(active) ?? 'restored',
    acknowledgedLoss,
    timeline,
    surprises,
  };
}

/** The graph's size in the backup must equal the size of the graph, because nothing has written to it. */
async function expectGraphKept({ services, expect, note }: Rehearsal, run: Run): Promise<void> {
  const { graph } = services;
  if (!graph || !run.evidence['backup-manifest']) return;
  const { kind, nodes, relationships } = (await readManifest(services, run)).graph;
  if (kind !== 'exact') return note('the graph changed while it was dumped');
  const size = await graph.readSize();
  const isWhole = nodes === size.nodes && relationships === size.relationships;
  expect(`graph kept: nodes ${nodes}, relationships ${relationships}`, isWhole);
}

export function isSuccessful({ lost, unexpected, usersDiffering, surprises }: Outcome): boolean {
  return lost.length + unexpected.length + usersDiffering + surprises.length === 0;
}
