// Reads two formats of earlier versions. One is the record of a run that went live in release 0.1.0 and can still be rolled back;
// other runs of that release must be ended with it. The other is the journal of a rollback whose decisions were notes beside its
// stages. docs/migration/decisions/0012-journal.md says how long this file is needed.
import * as v from 'valibot';
import { DECISIONS, EVIDENCE } from '../phases.ts';

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

const notedSchema = v.looseObject({
  passed: v.record(v.string(), v.unknown()),
  noted: v.looseObject({
    plan: v.optional(v.looseObject({ returnTo: v.string() })),
    failingSince: v.optional(v.number()),
    failingAfter: v.optional(v.number()),
    refused: v.optional(v.unknown()),
    unproved: v.optional(v.object({ to: v.string(), why: v.string() })),
    earlier: v.optional(v.unknown()),
  }),
});

/** Turns notes into entries of the journal (steps/return-end.ts, steps/equalise.ts). @returns any other value unchanged */
export function upgradeNotes(recorded: unknown): unknown {
  const result = v.safeParse(notedSchema, recorded);
  if (!result.success) return recorded;
  const { noted, passed, ...journal } = result.output;
  const { plan, failingSince: since, failingAfter: after, refused, unproved, earlier } = noted;
  const mayHaveLeft = 'setting-changed' in passed || since !== undefined;
  const refusedEnd = { refused, ...(mayHaveLeft && { leftFor: unproved?.to ?? plan?.returnTo }) };
  const end = refused ? refusedEnd : unproved && { to: unproved.to, unproved: unproved.why };
  return {
    ...journal,
    passed: {
      ...(plan && { [DECISIONS.plan]: { found: plan } }),
      ...(since !== undefined && { [DECISIONS.failing]: { found: { since, after } } }),
      ...(earlier !== undefined && { [DECISIONS.earlier]: { found: earlier } }),
      ...passed,
      ...(end && { [DECISIONS.end]: { found: end } }),
    },
  };
}
