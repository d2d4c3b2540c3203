// What a person says of the evidence, as the function hears it: bound to the gate, to the very report, and to a time.
import { describe, expect, it } from 'vitest';
import { createHandler } from '../../../../functions/migration/approve.ts';
import type { RefusalName } from '../../../../lib/migration/refusals.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { writeToOld } from '../../../support/migration/fears.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function digestOf({ runs }: Migration): Promise<string> {
  return (await runs.read(RUN)).evidence['verification-report']?.digest ?? '';
}

async function verified() {
  const migration = await migrationAt('verified');
  const approve = createHandler(async () => migration.services);
  const at = (later: number) => new Date(migration.clock().getTime() + later).toISOString();
  const approval = {
    runId: RUN,
    gate: 'window',
    evidenceDigest: await digestOf(migration),
    approvedBy: 'ada',
    expiresAt: at(HOUR_MS),
  };
  const gateOf = async () => (await readStatus(migration.services)).gates[0];
  return { migration, approve, approval, at, gateOf };
}

describe('an approval', () => {
  it('is void once somebody has written and the report was renewed, and says so', async () => {
    const { migration, approve, approval, gateOf } = await verified();
    await approve(approval);
    expect(await gateOf()).toMatchObject({ isOpen: true, approvedBy: 'ada', why: null });
    await writeToOld(migration, 'Ada has bought a boat');
    await migration.follow('copy', 'verify');
    expect(await digestOf(migration)).not.toBe(approval.evidenceDigest);
    await expect(migration.invoke('freeze')).rejects.toEqual(named('RefusedOtherEvidence'));
    expect(await gateOf()).toMatchObject({ isOpen: false, why: 'RefusedOtherEvidence' });
    expect((await migration.runs.read(RUN)).phase).toBe('verified');
    await expect(approve(approval)).rejects.toEqual(named('RefusedOtherEvidence'));
    await approve({ ...approval, evidenceDigest: await digestOf(migration) });
    expect(await migration.invoke('freeze')).toMatchObject({ phase: 'freezing' });
  });

  it('expires while nobody makes use of it, and says so', async () => {
    const { migration, approve, approval, gateOf } = await verified();
    await approve(approval);
    migration.pass(HOUR_MS);
    await expect(migration.invoke('freeze')).rejects.toEqual(named('RefusedExpiredApproval'));
    expect(await gateOf()).toMatchObject({ isOpen: false, why: 'RefusedExpiredApproval' });
  });

  it.each<
    [string, Record<string, unknown> | ((at: (later: number) => string) => object), RefusalName]
  >([
    ['of another digest', { evidenceDigest: 'f'.repeat(64) }, 'RefusedOtherEvidence'],
    ['of what is no digest', { evidenceDigest: 'ada' }, 'RefusedInput'],
    ['until now', (at) => ({ expiresAt: at(0) }), 'RefusedApprovalForm'],
    ['until a time that is past', (at) => ({ expiresAt: at(-DAY_MS) }), 'RefusedApprovalForm'],
    ['for more than a week', (at) => ({ expiresAt: at(7 * DAY_MS + 1) }), 'RefusedApprovalForm'],
    ['for ever', { expiresAt: '9999-12-31T23:59:59Z' }, 'RefusedApprovalForm'],
    ['until a day that no month has', { expiresAt: '2026-02-30T10:00:00Z' }, 'RefusedInput'],
    ['until tomorrow, in words', { expiresAt: 'tomorrow' }, 'RefusedInput'],
    ['by two lines', { approvedBy: 'ada\nRun run-b: live' }, 'RefusedApprovalForm'],
    ['by a terminal escape', { approvedBy: 'ada\u001b[2J' }, 'RefusedApprovalForm'],
    ['by a name that is turned around', { approvedBy: 'ada\u202e' }, 'RefusedApprovalForm'],
    ['by half a character', { approvedBy: 'ada\ud83d' }, 'RefusedApprovalForm'],
    ['of a gate that is asked later', { gate: 'opened' }, 'RefusedNotAsked'],
    ['of a gate that there is not', { gate: 'door' }, 'RefusedInput'],
    ['by nobody', { approvedBy: '  ' }, 'RefusedInput'],
    ['of another run', { runId: 'run-z' }, 'RefusedUnknownRun'],
  ])('%s is refused by name, and opens nothing', async (_, change, refusal) => {
    const { approve, approval, at, gateOf } = await verified();
    const wrong = { ...approval, ...(typeof change === 'function' ? change(at) : change) };
    await expect(approve(wrong)).rejects.toEqual(named(refusal));
    expect(await gateOf()).toMatchObject({ isOpen: false, approvedBy: null });
  });

  it.each(['Zoë Ångström', '李小龍', 'نرگس می\u200cخواهد', 'ada 👩\u200d🚀'])(
    'is given by a name as people write it: %s',
    async (approvedBy) => {
      const { approve, approval, gateOf } = await verified();
      await approve({ ...approval, approvedBy });
      expect(await gateOf()).toMatchObject({ isOpen: true, approvedBy });
    },
  );

  it('names the evidence by as much of its digest as the operator types, 8 digits at least', async () => {
    const { migration, approve, approval, gateOf } = await verified();
    const digest = await digestOf(migration);
    const short = approve({ ...approval, evidenceDigest: digest.slice(0, 7) });
    await expect(short).rejects.toEqual(named('RefusedInput'));
    await approve({ ...approval, evidenceDigest: digest.slice(0, 8) });
    expect(await gateOf()).toMatchObject({ isOpen: true, digest });
  });

  it('for a week is the longest', async () => {
    const { approve, approval, at } = await verified();
    const expiresAt = at(7 * DAY_MS);
    expect(await approve({ ...approval, expiresAt })).toMatchObject({ approvedUntil: expiresAt });
  });
});
