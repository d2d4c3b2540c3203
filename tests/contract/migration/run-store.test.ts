// What a run's record and checkpoints remember, and what they refuse to.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../lib/migration/runs/run.ts';
import { recordKey } from '../../../lib/migration/runs/run-keys.ts';
import type { Lease } from '../../../lib/migration/runs/run-lock.ts';
import { named } from '../../support/migration/refused.ts';
import { createRunTable, PLAN } from '../../support/migration/run-table.ts';

const DIGEST = 'a'.repeat(64);

let table: Awaited<ReturnType<typeof createRunTable>>;
let run: Run;
let lease: Lease;

beforeEach(async () => {
  table = await createRunTable();
  run = await table.runs.start('run-a', PLAN);
  lease = await table.lock.take('run-a');
});

describe('the record', () => {
  it('comes back as it was written', async () => {
    const written: Run = {
      ...run,
      phase: 'frozen',
      evidence: {
        'verification-report': {
          artifact: 'run-a/verification.json',
          digest: DIGEST,
          recordedAt: table.clock().getTime(),
          facts: { passed: true, points: 5_000, fingerprint: DIGEST },
        },
      },
      deadlineAt: table.clock().getTime() + 30 * 60_000,
    };
    await table.runs.write(lease, written);
    expect(await table.runs.read('run-a')).toEqual(written);
  });

  it('of an unknown run is a refusal', async () => {
    await expect(table.runs.read('run-z')).rejects.toEqual(named('RefusedUnknownRun'));
  });

  it.each([
    ['a field that is not its own', { apiKey: 'secret' }],
    ['counts of users', { counts: { alice: 3 } }],
    ['a phase that does not exist', { phase: 'done' }],
    ['evidence without a digest', { evidence: { 'copy-report': { artifact: 'x' } } }],
    ['a fact that is a text of any length', { evidence: { 'copy-report': long() } }],
  ])('does not take %s', async (_, part) => {
    const attempt = table.runs.write(lease, { ...run, ...part } as Run);
    await expect(attempt).rejects.toEqual(named('RefusedUnrecordable'));
    expect(await table.runs.read('run-a')).toEqual(run);
  });

  it('lies where no ledger can reach it', () => {
    expect(recordKey('run-a').pk).toMatch(/^[^\w-]/);
  });
});

describe('a checkpoint', () => {
  it('tells the next turn where the last one stopped', async () => {
    const checkpoint = { state: { cursor: '42' }, progress: { done: 42, total: 100 } };
    await table.runs.saveCheckpoint(lease, 'copy', checkpoint);
    const savedAt = table.clock().getTime();
    expect(await table.runs.readCheckpoint('run-a', 'copy')).toEqual({ ...checkpoint, savedAt });
    expect(await table.runs.readCheckpoint('run-a', 'backup')).toBeUndefined();
  });

  it('is forgotten when its step has finished, with the record that says so', async () => {
    await table.runs.saveCheckpoint(lease, 'copy', { state: {} });
    await table.runs.saveCheckpoint(lease, 'backup', { state: {} });
    await table.runs.finish(lease, { ...run, phase: 'copied' }, 'copy');
    expect((await table.runs.read('run-a')).phase).toBe('copied');
    expect(await table.runs.readCheckpoint('run-a', 'copy')).toBeUndefined();
    expect(await table.runs.readCheckpoint('run-a', 'backup')).toBeDefined();
  });

  it('of more than 256 KB is refused, and the one before it stays', async () => {
    await table.runs.saveCheckpoint(lease, 'copy', { state: 'small' });
    const attempt = table.runs.saveCheckpoint(lease, 'copy', { state: 'x'.repeat(256 * 1024) });
    await expect(attempt).rejects.toEqual(named('RefusedUnrecordable'));
    expect((await table.runs.readCheckpoint('run-a', 'copy'))?.state).toBe('small');
  });
});

function long() {
  return { artifact: 'x', digest: DIGEST, recordedAt: 1, facts: { text: 'x'.repeat(513) } };
}
