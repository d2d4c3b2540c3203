// The last line of a rehearsal: what was lost, and whether that was meant.
import { expect, it } from 'vitest';
import type { Outcome } from '../../../../sandbox/rehearsal/outcome.ts';
import { describeEnd } from '../../../../sandbox/rehearsal/output.ts';

const WELL: Outcome = {
  ...{ phase: 'live', worksOn: 'new', acknowledgedLoss: 0, timeline: [], surprises: [] },
  ...{ before: 2, after: 2, users: 1, usersDiffering: 0, largest: 2, lost: [], strange: [] },
};
const ACKNOWLEDGED = { ...WELL, acknowledgedLoss: 3 };

it.each([
  ['nothing', [WELL], 'Nothing was lost.'],
  [
    'what was acknowledged',
    [WELL, ACKNOWLEDGED],
    '3 writes left behind as acknowledged; nothing was lost.',
  ],
  ['more', [ACKNOWLEDGED, { ...WELL, lost: ['1 is missing'] }], 'The rehearsal failed.'],
])('says that it lost %s', (_, outcomes, line) => {
  expect(describeEnd(outcomes)).toBe(line);
});
