// Input of functions: every field is read by some step, and a refusal names every wrong field with its rule.
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import {
  describeRule,
  parseInput,
  parseStepCall,
  stepInputSchema,
} from '../../../../lib/migration/runs/input.ts';
import { ACCEPTABLE } from '../../../../lib/migration/runs/run.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import {
  confirmAction,
  confirmInputSchema,
} from '../../../../lib/migration/steps/backend-actions.ts';
import { copy } from '../../../../lib/migration/steps/copy.ts';
import { preflightInputSchema, runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { describeRun, statusInputSchema } from '../../../../lib/migration/steps/status.ts';
import { failureNamed } from '../../support/refused.ts';

const schema = v.strictObject({
  runId: v.pipe(v.string(), v.minLength(4), v.regex(/^a/), v.description('short and sweet')),
  times: v.optional(v.number()),
  isAllowed: v.optional(v.boolean(), false),
  kinds: v.optional(v.array(v.picklist(['small', 'large']))),
});

test.each([
  [{ runId: 'a-run', tmies: 1 }, 'tmies is not known here.'],
  [{ runId: 'a-run', ['x'.repeat(99)]: 1 }, `${'x'.repeat(64)} is not known here.`],
  [{ runId: 'a-run', times: 'one' }, 'times has to be a number.'],
  [{ runId: 'b' }, 'runId has to be short and sweet.'],
  [{}, 'runId is missing: it has to be short and sweet.'],
  [
    { runId: 3, isAllowed: 'yes', kinds: ['small', 'huge'], runid: 'a-run' },
    'runId has to be short and sweet; isAllowed has to be true or false; ' +
      'kinds has to be a list of any of small, large; runid is not known here.',
  ],
  ['run-a', 'It has to be an object with named fields.'],
  [null, 'It has to be an object with named fields.'],
])('%j is refused, and the refusal names every wrong field and its rule', (payload, fault) => {
  const parse = () => parseInput(schema, payload);
  expect(parse).toThrow(failureNamed('RefusedSetting', 'The input is not valid'));
  expect(parse).toThrow(`The input is not valid: ${fault} `);
});

test.each<[Record<string, unknown>, string]>([
  [{ runId: 'Run Z' }, 'runId has to be 4 to 40 lowercase letters, digits or hyphens'],
  [{ accepts: ['anything'] }, `accepts has to be a list of any of ${ACCEPTABLE.join(', ')}`],
  [{ windowMinutes: 0 }, 'windowMinutes has to be a number from 1 to 240'],
  [{ retentionDays: 29 }, 'retentionDays has to be a whole number from 30 to 3650'],
  [{ retentionDays: 999_999_999_999_999 }, 'retentionDays has to be a whole number from 30 to'],
  [{ freeBytes: -1 }, 'freeBytes has to be a whole number of bytes'],
  [{ uploadAs: 'a/b' }, 'uploadAs has to be a name of 1 to 140 bytes in UTF-8, none of them /'],
  [{ uploadAs: 'a\u001b[2J' }, 'uploadAs has to be a name of '],
  [{ sourceCollection: 'a\nb' }, 'sourceCollection has to be a name of '],
  [{ sourceCollection: 'a\u202eb' }, 'sourceCollection has to be a name of '],
])('a plan with %j is refused, and the refusal names the rule', (wrong, rule) => {
  const payload = { runId: 'run-a', sourceCollection: 'memories', ...wrong };
  expect(() => parseInput(preflightInputSchema, payload)).toThrow(rule);
});

test('every field of every function has its rule', () => {
  const schemas = [preflightInputSchema, confirmInputSchema, statusInputSchema, stepInputSchema];
  for (const { entries } of schemas) {
    for (const [name, entry] of Object.entries(entries))
      expect(describeRule(entry), name).toBeDefined();
  }
});

describe('a mistyped field', () => {
  // A mistyped field is refused before any service is called.
  const services = {} as Services;
  const timeLeftMs = () => 0;

  const RUN = { runId: 'run-a' };
  const step = async (payload: object) =>
    await advance(copy, services, { ...parseStepCall('copy', { ...RUN, ...payload }), timeLeftMs });

  test.each<[string, string, () => Promise<unknown>]>([
    [
      'preflight',
      'retentionDay',
      () => runPreflight(services, { ...RUN, sourceCollection: 'm', retentionDay: 90 }),
    ],
    ['status', 'runID', () => describeRun(services, { runID: 'run-a' })],
    [
      'confirm',
      'acton',
      () => confirmAction(services, { ...RUN, action: 'freeze', confirmedBy: 'a', acton: 'x' }),
    ],
    ['a step', 'exceute', () => step({ exceute: true })],
    ['a step that does not read it', 'acknowledgedLoss', () => step({ acknowledgedLoss: 1 })],
    ['a step to which it does not apply', 'freeBytes', () => step({ freeBytes: 1 })],
  ])('of %s is refused with its name, %s', async (_, field, call) => {
    await expect(call()).rejects.toEqual(failureNamed('RefusedSetting', field));
  });
});
