// The input that a step works with: its own checkpoint, if the evidence is still the same, and the current record of the run.
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../../lib/migration/phases.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import { parseStepCall, type StepInput } from '../../../../lib/migration/runs/input.ts';
import { outOfTime } from '../../../../lib/migration/runs/journal.ts';
import type { Reference, Run } from '../../../../lib/migration/runs/run.ts';
import type { Step } from '../../../../lib/migration/runs/step.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { createRunTable, RUN } from '../../support/run-table.ts';

const reference = (artifact: string): Reference => ({
  artifact,
  digest: 'a'.repeat(64),
  recordedAt: 1,
  facts: {},
});

/** Creates a run that is ready for its copy. */
async function createScene(work: Step['work']) {
  const table = createRunTable();
  const { runs, lock, clock } = table;
  const services = { runs, lock, clock, vectors: {}, log: () => {} } as unknown as Services;
  await table.begin(RUN);

  async function writeEvidence(backup: string): Promise<void> {
    const lease = await lock.take(RUN);
    const evidence: Run['evidence'] = {
      'backup-manifest': reference(backup),
      'rebuild-proof': reference('rebuild'),
    };
    await runs.write(lease, { ...(await runs.read(RUN)), phase: 'rebuilt', evidence });
    await lock.release(lease);
  }

  const runCommand = (command: Command, input: Partial<StepInput> = {}) =>
    advance({ command, work }, services, {
      ...parseStepCall(command, { runId: RUN, execute: true, ...input }),
      timeLeftMs: () => 600_000,
    });
  return { writeEvidence, runCommand, runCopy: () => runCommand('copy') };
}

it.each([
  ['resumes from its checkpoint', 'backup-1', 'half done'],
  ['begins again if the evidence it is based on was renewed', 'backup-2', undefined],
])('a step that was killed %s', async (_, backup, expected) => {
  const cursors: unknown[] = [];
  const { writeEvidence, runCopy } = await createScene(async ({ cursor, saveCursor }) => {
    cursors.push(cursor);
    await saveCursor('half done');
    throw new Error('killed');
  });
  await writeEvidence('backup-1');
  await expect(runCopy()).rejects.toThrow();
  await writeEvidence(backup);
  await expect(runCopy()).rejects.toThrow();
  expect(cursors).toEqual([undefined, expected]);
});

it('a step sees its own notes', async () => {
  const { writeEvidence, runCopy } = await createScene(async (context) => {
    await context.updateRun({ takesNoWindow: 'set by the test' });
    expect(context.run.takesNoWindow).toBe('set by the test');
    return {};
  });
  await writeEvidence('backup-1');
  await runCopy();
});

describe('the number of deletions that the operator accepted for a copy', () => {
  /** Copies with a number, then as the state machine would. @returns the number that each copy received */
  async function copyTwice(duringFirst: () => Promise<unknown>) {
    const received: unknown[] = [];
    const { writeEvidence, runCommand } = await createScene(async ({ input }) => {
      received.push(input.deletes);
      if (received.length === 1) await duringFirst();
      return {};
    });
    await writeEvidence('backup-1');
    await runCommand('copy', { deletes: 60 }).catch(() => undefined);
    await runCommand('copy', { actor: 'machine' });
    return received;
  }

  it.each([
    ['killed', new Error('killed')],
    ['interrupted by a service', new RetryableFailure('RetryableUnavailable', 'No answer.')],
    ['out of time', outOfTime()],
  ])('applies to a copy that was %s and is continued by the state machine', async (_, failure) => {
    expect(await copyTwice(() => Promise.reject(failure))).toEqual([60, 60]);
  });

  it('does not apply if the operator calls another step instead of the interrupted one', async () => {
    const given: unknown[] = [];
    const { writeEvidence, runCommand } = await createScene(async ({ input }) => {
      given.push(input.deletes);
      if (given.length === 1) throw outOfTime();
      return {};
    });
    await writeEvidence('backup-1');
    await runCommand('rebuild', { deletes: 60 });
    await runCommand('copy');
    expect(given).toEqual([60, undefined]);
  });

  it('does not apply to the copy after one that was refused', async () => {
    const refusal = new Refusal('RefusedMassChange', 'Too many.');
    expect(await copyTwice(() => Promise.reject(refusal))).toEqual([60, undefined]);
  });

  it.each([
    ['first', 1],
    ['repeated', 2],
  ])('does not apply to the copy after the %s one that is done', async (_, copies) => {
    const received: unknown[] = [];
    const { writeEvidence, runCommand } = await createScene(async ({ input }) => {
      received.push(input.deletes);
      return {};
    });
    await writeEvidence('backup-1');
    for (let n = 0; n < copies; n += 1) await runCommand('copy', { deletes: 60 });
    await runCommand('copy');
    expect(received.at(-1)).toBeUndefined();
  });
});

it('a command that the state machine repeats is reported as done, unless it stops users', async () => {
  const { writeEvidence, runCommand } = await createScene(async () => ({}));
  await writeEvidence('backup-1');
  expect(await runCommand('backup', { actor: 'machine' })).toMatchObject({
    phase: 'rebuilt',
    done: true,
  });
  for (const command of ['cutover', 'rollback', 'abort'] as const) {
    const attempt = runCommand(command, { actor: 'machine' });
    await expect(attempt).rejects.toMatchObject({ name: 'RefusedNotNow' });
  }
});
