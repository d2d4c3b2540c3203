// Reads the record of a run that went live in release 0.1.0 and can still be rolled back. Other runs of that release must be
// ended by that release. docs/migration/decisions/0012-journal.md tells how long this file is needed.
import * as v from 'valibot';
import { EVIDENCE } from '../phases.ts';

const time = v.number();

const releasedSchema = v.object({
  runId: v.unknown(),
  phase: v.picklist(['live', 'closed']),
  plan: v.unknown(),
  evidence: v.object(v.entriesFromList(EVIDENCE, v.optional(v.unknown()))),
  startedAt: time,
  liveAt: time,
  deadlineAt: time,
  switchedAt: time,
  openedAt: time,
  retainUntil: time,
  overAt: v.optional(time),
  endedAt: v.optional(time),
  /** Set if the collection named by `uploadAs` is the run's own */
  uploadingAt: v.optional(time),
  approvedBy: v.optional(v.unknown()),
});

/** @returns any other value unchanged */
export function upgradeReleasedRun(stored: unknown): unknown {
  const result = v.safeParse(releasedSchema, stored);
  if (!result.success) return stored;
  const { runId, phase, plan, evidence, startedAt, liveAt, endedAt, uploadingAt, ...window } =
    result.output;
  return {
    runId,
    phase,
    plan,
    evidence,
    startedAt,
    history: [
      { phase: 'checked', at: startedAt },
      { phase: 'live', at: liveAt },
      ...(phase === 'closed' ? [{ phase, at: endedAt ?? window.overAt }] : []),
    ],
    took: {},
    served: [],
    kept: [],
    hasUploaded: uploadingAt !== undefined,
    window,
  };
}
