// What only a person may say: that the evidence shown is good enough, until when.
import * as v from 'valibot';
import type { Database } from '../../store/database.ts';
import { APPROVED_EVIDENCE, GATE_OF, type Gate } from '../phases.ts';
import { Refusal, type RefusalName } from '../refusals.ts';
import { DAY_MS } from './durations.ts';
import { isPrintable } from './printable.ts';
import type { Run } from './run.ts';
import { approvalKey } from './run-keys.ts';

export interface Approval {
  readonly gate: Gate;
  /** SHA-256 of the evidence that the person looked at, or its beginning. */
  readonly evidenceDigest: string;
  readonly approvedBy: string;
  readonly expiresAt: number;
}

export interface ApprovalAnswer {
  readonly isOpen: boolean;
  /** Null while nobody has said anything. */
  readonly approvedBy: string | null;
  readonly approvedUntil: string | null;
  /** The refusal that an approval given meets by now. */
  readonly why: RefusalName | null;
}

export type Approvals = ReturnType<typeof createApprovals>;

const storedSchema = v.object({
  evidence_digest: v.string(),
  approved_by: v.string(),
  expires_at: v.number(),
});

type StoredApproval = v.InferOutput<typeof storedSchema>;

export function createApprovals(options: {
  readonly database: Database;
  readonly clock: () => Date;
}) {
  const { database } = options;
  const now = () => options.clock().getTime();

  /** @throws Refusal when nothing is to be approved there now, or something else than what was looked at */
  async function approve(run: Run, approval: Approval): Promise<void> {
    const { gate, evidenceDigest, approvedBy, expiresAt } = approval;
    assertAsked(run, gate);
    assertApprovable(run, gate);
    const digest = assertSameEvidence(run, gate, evidenceDigest);
    assertTimely(expiresAt - now());
    assertShowable(approvedBy);
    const item = {
      ...approvalKey(run, gate),
      evidence_digest: digest,
      approved_by: approvedBy,
      approved_at: now(),
      expires_at: expiresAt,
    };
    const onConditionFailed = () => new Error('An approval has no condition to break');
    await database.commit([{ Put: { Item: item }, onConditionFailed }]);
  }

  async function given(run: Run, gate: Gate): Promise<StoredApproval | undefined> {
    const item = await database.get(approvalKey(run, gate));
    return item && v.parse(storedSchema, item);
  }

  function assertHolds(run: Run, gate: Gate, approval: StoredApproval): void {
    assertSameEvidence(run, gate, approval.evidence_digest);
    if (approval.expires_at > now()) return;
    const expired = new Date(approval.expires_at).toISOString();
    throw new Refusal('RefusedExpiredApproval', `The approval of "${gate}" expired at ${expired}.`);
  }

  /** @throws Refusal unless a person has approved the run's present evidence and the approval still holds */
  async function require(run: Run, gate: Gate): Promise<void> {
    const approval = await given(run, gate);
    if (approval) return assertHolds(run, gate, approval);
    throw new Refusal('RefusedMissingApproval', `Nobody has approved "${gate}" of ${run.runId}.`);
  }

  /** What became of asking for it. */
  async function answerTo(run: Run, gate: Gate): Promise<ApprovalAnswer> {
    const approval = await given(run, gate);
    if (!approval) return { isOpen: false, approvedBy: null, approvedUntil: null, why: null };
    const { approved_by: approvedBy, expires_at } = approval;
    const who = { approvedBy, approvedUntil: new Date(expires_at).toISOString() };
    try {
      assertHolds(run, gate, approval);
      return { isOpen: true, ...who, why: null };
    } catch (error) {
      if (error instanceof Refusal) return { isOpen: false, ...who, why: error.name };
      throw error;
    }
  }

  return { approve, require, answerTo };
}

function assertShowable(approvedBy: string): void {
  if (isPrintable(approvedBy)) return;
  const why = 'The name of whoever approves is one line, without control characters.';
  throw new Refusal('RefusedApprovalForm', why);
}

/** What was looked at so long ago is to be looked at again. */
const LONGEST_DAYS = 7;

function assertTimely(milliseconds: number): void {
  if (milliseconds <= 0) {
    throw new Refusal('RefusedApprovalForm', 'The approval would have expired already.');
  }
  if (milliseconds <= LONGEST_DAYS * DAY_MS) return;
  throw new Refusal('RefusedApprovalForm', `An approval holds for ${LONGEST_DAYS} days at most.`);
}

/** The one gate that a person is waited for at; undefined while nobody is. */
export function gateAskedBy({ phase, asks }: Pick<Run, 'phase' | 'asks'>): Gate | undefined {
  if (asks) return GATE_OF[asks.action];
  return phase === 'verified' ? 'window' : undefined;
}

// What is not asked for is not done yet, or was not done for this: said beforehand, it would be taken for done.
function assertAsked(run: Run, gate: Gate): void {
  const asked = gateAskedBy(run);
  if (asked === gate) return;
  const instead = asked === undefined ? 'nothing is' : `"${asked}" is`;
  const why = `"${gate}" is not asked for now: ${instead}, in a run that is ${run.phase}.`;
  throw new Refusal('RefusedNotAsked', why);
}

/** Of what a person may look at and approve; a report that did not pass opens no window. */
export function approvableDigest(
  { evidence }: Pick<Run, 'evidence'>,
  gate: Gate,
): string | undefined {
  const shown = evidence[APPROVED_EVIDENCE];
  return gate === 'window' && shown?.facts.isPassed === false ? undefined : shown?.digest;
}

function assertApprovable(run: Run, gate: Gate): void {
  if (run.evidence[APPROVED_EVIDENCE] === undefined) return;
  if (approvableDigest(run, gate) !== undefined) return;
  throw new Refusal(
    'RefusedVerification',
    `The ${APPROVED_EVIDENCE} of ${run.runId} did not pass.`,
  );
}

/** @returns the whole digest */
function assertSameEvidence({ evidence }: Run, gate: Gate, beginning: string): string {
  const digest = evidence[APPROVED_EVIDENCE]?.digest;
  if (digest?.startsWith(beginning)) return digest;
  throw new Refusal(
    'RefusedOtherEvidence',
    `"${gate}" was asked for another ${APPROVED_EVIDENCE}.`,
  );
}
