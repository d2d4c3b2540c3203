// What functions take as input: nothing that nobody reads, and each refusal names the field.
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parseInput } from '../../../../lib/migration/runs/parse-input.ts';
import { takeStep } from '../../../../lib/migration/runs/step.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { approveGate } from '../../../../lib/migration/steps/approve.ts';
import { copy } from '../../../../lib/migration/steps/copy-step.ts';
import { startRun } from '../../../../lib/migration/steps/start.ts';
import { statusOf } from '../../../../lib/migration/steps/status.ts';
import { named } from '../../../support/migration/refused.ts';

const schema = v.strictObject({ runId: v.string(), times: v.optional(v.number()) });

test.each([
  [{ runId: 'run-a', tmies: 1 }, 'a field that is not known here: tmies.'],
  [{ runId: 'run-a', ['x'.repeat(99)]: 1 }, `known here: ${'x'.repeat(64)}.`],
  [{ runId: 'run-a', times: 'one' }, 'its times.'],
  [{}, 'its runId.'],
  ['run-a', 'its whole.'],
  [null, 'its whole.'],
])('%j is refused, naming the field', (payload, fault) => {
  const parse = () => parseInput(schema, payload);
  expect(parse).toThrow(named('RefusedInput'));
  expect(parse).toThrow(fault);
});

describe('a mistyped field', () => {
  // No service is asked for anything.
  const services = {} as Services;
  const timeLeftMs = () => 0;
  const digest = 'a'.repeat(64);
  const approval = { gate: 'window', evidenceDigest: digest, approvedBy: 'ada' };

  test.each([
    [
      'start',
      'retentionDay',
      () => startRun(services, { runId: 'run-a', sourceCollection: 'm', retentionDay: 90 }),
    ],
    ['status', 'runID', () => statusOf(services, { runID: 'run-a' })],
    [
      'approve',
      'until',
      () =>
        approveGate(services, {
          ...{ runId: 'run-a', ...approval },
          ...{ expiresAt: '2026-03-01T10:00:00Z', until: 'x' },
        }),
    ],
    [
      'a step',
      'exceute',
      () => takeStep(copy, services, { payload: { runId: 'run-a', exceute: true }, timeLeftMs }),
    ],
    [
      'another step, which does not read it',
      'acknowledgedLoss',
      () =>
        takeStep(copy, services, { payload: { runId: 'run-a', acknowledgedLoss: 1 }, timeLeftMs }),
    ],
    [
      'another step, to which it means nothing',
      'freeBytes',
      () => takeStep(copy, services, { payload: { runId: 'run-a', freeBytes: 1 }, timeLeftMs }),
    ],
  ])('of %s is refused by its name, %s', async (_, field, give) => {
    const given = give();
    await expect(given).rejects.toEqual(named('RefusedInput'));
    await expect(given).rejects.toThrow(field);
  });
});
