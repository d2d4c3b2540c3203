// An approval holds for one gate of one run, for the evidence that was looked at, until it expires.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Approval } from '../../../lib/migration/runs/approvals.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';
import { named } from '../../support/migration/refused.ts';
import { createRunTable, PLAN } from '../../support/migration/run-table.ts';

const SEEN = 'a'.repeat(64);
const RENEWED = 'b'.repeat(64);
const HOUR = 3_600_000;

let table: Awaited<ReturnType<typeof createRunTable>>;
let verified: Run;
let approval: Approval;

beforeEach(async () => {
  table = await createRunTable();
  verified = withReport(await table.runs.start('run-a', PLAN), SEEN);
  const expiresAt = table.clock().getTime() + HOUR;
  approval = { gate: 'window', evidenceDigest: SEEN, approvedBy: 'ada', expiresAt };
});

function withReport(run: Run, digest: string): Run {
  const report = { artifact: 'report.json', digest, recordedAt: 0, facts: {} };
  return { ...run, phase: 'verified', evidence: { 'verification-report': report } };
}

describe('an approval', () => {
  it('opens its gate', async () => {
    await table.approvals.approve(verified, approval);
    await expect(table.approvals.require(verified, 'window')).resolves.toBeUndefined();
  });

  it('is missing until it is given', async () => {
    const asked = table.approvals.require(verified, 'window');
    await expect(asked).rejects.toEqual(named('RefusedMissingApproval'));
  });

  it('opens no other gate and no other run', async () => {
    await table.approvals.approve(verified, approval);
    await expect(table.approvals.require(verified, 'frozen')).rejects.toEqual(
      named('RefusedMissingApproval'),
    );
    await expect(
      table.approvals.require({ ...verified, runId: 'run-b' }, 'window'),
    ).rejects.toEqual(named('RefusedMissingApproval'));
  });

  it.each([
    ['holds until just before it expires', HOUR - 1, undefined],
    ['is over when it expires', HOUR, 'RefusedExpiredApproval'],
  ] as const)('%s', async (_, later, refusal) => {
    await table.approvals.approve(verified, approval);
    table.pass(later);
    const asked = table.approvals.require(verified, 'window');
    if (refusal) await expect(asked).rejects.toEqual(named(refusal));
    else await asked;
  });

  it('is void when the evidence has been renewed since', async () => {
    await table.approvals.approve(verified, approval);
    const renewed = withReport(verified, RENEWED);
    await expect(table.approvals.require(renewed, 'window')).rejects.toEqual(
      named('RefusedOtherEvidence'),
    );
  });

  it.each([
    [
      'of evidence that is not the present one',
      { evidenceDigest: RENEWED },
      'RefusedOtherEvidence',
    ],
    ['that has expired when it is given', { expiresAt: 0 }, 'RefusedApprovalForm'],
    ['of a gate that is not asked yet', { gate: 'deployed' }, 'RefusedNotAsked'],
  ] as const)('%s is refused', async (_, change, refusal) => {
    const given = table.approvals.approve(verified, { ...approval, ...change });
    await expect(given).rejects.toEqual(named(refusal));
    await expect(table.approvals.require(verified, 'window')).rejects.toEqual(
      named('RefusedMissingApproval'),
    );
  });
});
