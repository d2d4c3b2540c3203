// What the preflight has found is told whole: each kind by its name, with its own remedy.
import { expect, it } from 'vitest';
import { REMEDIES } from '../../../../lib/migration/refusals.ts';
import { refusalOver } from '../../../../lib/migration/steps/preflight-refusal.ts';
import { named } from '../../../support/migration/refused.ts';

const REPORT = 'run-a/preflight-report-2.json';
const SOURCE = { name: 'RefusedSource', why: 'There is no collection m.' } as const;
const ELSEWHERE = { name: 'RefusedSource', why: 'The memory backend works on n.' } as const;
const TAKEN = { name: 'RefusedTarget', why: 'The name m_v3 is taken.' } as const;
const STRICT = { name: 'RefusedStrictMode', why: 'In strict mode, x.' } as const;

it('refuses nothing where nothing is in the way', () => {
  expect(refusalOver([], REPORT)).toBeUndefined();
});

it('tells one kind with the report and its remedy', () => {
  const refusal = refusalOver([SOURCE, ELSEWHERE], REPORT);
  expect(refusal).toEqual(named('RefusedSource'));
  expect(refusal?.message).toBe(
    `${SOURCE.why} ${ELSEWHERE.why} The report is ${REPORT}. ${REMEDIES.RefusedSource}`,
  );
});

it('tells several kinds each with its own remedy, by the name of the first', () => {
  const refusal = refusalOver([SOURCE, TAKEN, STRICT, ELSEWHERE], REPORT);
  expect(refusal).toEqual(named('RefusedSource'));
  expect(refusal?.message).toBe(
    `3 kinds of obstacles, all in the report ${REPORT}.` +
      ` RefusedTarget: ${TAKEN.why} ${REMEDIES.RefusedTarget}` +
      ` RefusedStrictMode: ${STRICT.why} ${REMEDIES.RefusedStrictMode}` +
      ` RefusedSource: ${SOURCE.why} ${ELSEWHERE.why} ${REMEDIES.RefusedSource}`,
  );
});

it('tells five of a kind, and how many more there are', () => {
  const refusal = refusalOver([...Array(7).fill(TAKEN), SOURCE], REPORT);
  expect(refusal?.message).toContain(`${Array(5).fill(TAKEN.why).join(' ')} And 2 more. `);
});
