// The record and the checkpoints of a run: what they keep, and which writes they refuse.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../lib/migration/runs/run.ts';
import type { Lease } from '../../../lib/migration/runs/run-lock.ts';
import { recordKey } from '../../../lib/migration/runs/run-lock.ts';
import { describeRun } from '../../../lib/migration/steps/status.ts';
import { failureNamed } from '../support/refused.ts';
import { RUN_TABLES, type RunTable } from '../support/run-table.ts';

const DIGEST = 'a'.repeat(64);

// Limits of Step Functions: bytes of a state, characters of a cause
const MAX_STATE_BYTES = 256 * 1024;
const MAX_CAUSE_LENGTH = 32_768;

describe.each(RUN_TABLES)('a run table %s', (_, open) => {
  let table: RunTable;
  let run: Run;
  let lease: Lease;

  beforeEach(async () => {
    table = await open();
    run = await table.begin('run-a');
    lease = await table.lock.take('run-a');
  });

  describe('the record', () => {
    it('is read back as it was written', async () => {
      const written: Run = {
        ...run,
        phase: 'switching',
        evidence: {
          'verification-report': {
            artifact: 'run-a/verification.json',
            digest: DIGEST,
            recordedAt: table.clock().getTime(),
            facts: { passed: true, points: 5_000, fingerprint: DIGEST },
          },
        },
        window: { deadlineAt: table.clock().getTime() + 30 * 60_000 },
      };
      await table.runs.write(lease, written);
      expect(await table.runs.read('run-a')).toEqual(written);
    });

    it('at its maximum size fits into a state of the state machine, together with the failure of a step', async () => {
      const largest = fillRun(run, 125);
      await expect(table.runs.write(lease, fillRun(run, 126))).rejects.toEqual(
        failureNamed('RefusedDefect'),
      );
      await table.runs.write(lease, largest);
      const status = await describeRun(table, { runId: 'run-a' });
      const failure = { Error: 'RefusedVerification', Cause: 'ä'.repeat(MAX_CAUSE_LENGTH) };
      const state = JSON.stringify({ runId: 'run-a', status, failure });
      expect(Buffer.byteLength(JSON.stringify(largest))).toBeGreaterThan(63 * 1024);
      expect(Buffer.byteLength(state)).toBeLessThan(MAX_STATE_BYTES);
    });

    it('of an unknown run is refused', async () => {
      await expect(table.runs.read('run-z')).rejects.toEqual(
        failureNamed('RefusedUnknownRun', 'There is no run run-z; known runs: run-a.'),
      );
    });

    it.each([
      ['an unknown field', { apiKey: 'secret' }],
      ['counts per user', { counts: { alice: 3 } }],
      ['a phase that does not exist', { phase: 'done' }],
      ['evidence without a digest', { evidence: { 'verification-report': { artifact: 'x' } } }],
      [
        'a fact whose text is too long',
        { evidence: { 'verification-report': createLongReport() } },
      ],
    ])('does not accept %s', async (_, part) => {
      const attempt = table.runs.write(lease, { ...run, ...part } as Run);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedDefect'));
      expect(await table.runs.read('run-a')).toEqual(run);
    });

    it('is stored where no ledger can reach it', () => {
      expect(recordKey('run-a').pk).toMatch(/^[^\w-]/);
    });
  });

  describe('a checkpoint', () => {
    it('tells the next invocation where the last one stopped', async () => {
      const checkpoint = { state: { cursor: '42' }, progress: { done: 42, total: 100 } };
      await table.runs.saveCheckpoint(lease, 'copy', checkpoint);
      const savedAt = table.clock().getTime();
      expect(await table.runs.readCheckpoint('run-a', 'copy')).toEqual({ ...checkpoint, savedAt });
      expect(await table.runs.readCheckpoint('run-a', 'backup')).toBeUndefined();
    });

    it('is deleted when its step is recorded as finished', async () => {
      await table.runs.saveCheckpoint(lease, 'copy', { state: {} });
      await table.runs.saveCheckpoint(lease, 'backup', { state: {} });
      await table.runs.finish(lease, { ...run, phase: 'copied' }, 'copy');
      expect((await table.runs.read('run-a')).phase).toBe('copied');
      expect(await table.runs.readCheckpoint('run-a', 'copy')).toBeUndefined();
      expect(await table.runs.readCheckpoint('run-a', 'backup')).toBeDefined();
    });

    it('over 256 KB is refused, and the previous one is kept', async () => {
      await table.runs.saveCheckpoint(lease, 'copy', { state: 'small' });
      const attempt = table.runs.saveCheckpoint(lease, 'copy', { state: 'x'.repeat(256 * 1024) });
      await expect(attempt).rejects.toEqual(failureNamed('RefusedDefect'));
      expect((await table.runs.readCheckpoint('run-a', 'copy'))?.state).toBe('small');
    });
  });
});

function createLongReport() {
  return { artifact: 'x', digest: DIGEST, recordedAt: 1, facts: { text: 'x'.repeat(513) } };
}

/** Adds a report with this many facts of half a kilobyte each. */
function fillRun(run: Run, facts: number): Run {
  const name = (n: number) => `fact-${n}`.padEnd(12, '-');
  const entries = Array.from({ length: facts }, (_, n) => [name(n), 'x'.repeat(500)]);
  const recordedAt = run.startedAt;
  const report = { artifact: 'x', digest: DIGEST, recordedAt, facts: Object.fromEntries(entries) };
  return { ...run, phase: 'copied', evidence: { 'verification-report': report } };
}
