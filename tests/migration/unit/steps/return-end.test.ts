// Outcomes of a refused rollback, for every combination of the stages in its journal and the version that users are on.
import { describe, expect, it } from 'vitest';
import type { RefusalName } from '../../../../lib/migration/refusals.ts';
import { chooseEnd } from '../../../../lib/migration/steps/return-end.ts';

const MINUTE_MS = 60_000;
const NOW = 100 * MINUTE_MS;

interface Row {
  readonly as?: RefusalName;
  /** Stages that had passed at the refusal */
  readonly passed?: readonly string[];
  /** Minutes for which writes have been kept frozen, and the stages that had passed by then */
  readonly failing?: { readonly minutes: number; readonly after?: number };
  readonly settingNamesNew?: true;
  readonly end: string;
}

const BEFORE_SETTING = ['freezing', 'frozen'];
const MOVED = [...BEFORE_SETTING, 'setting-changed'];
const OPENED = [...MOVED, 'deployed', 'opened'];

const TABLE: readonly Row[] = [
  { settingNamesNew: true, end: 'stay' },
  { passed: BEFORE_SETTING, settingNamesNew: true, end: 'stay' },
  { as: 'RefusedNothingToReturnTo', settingNamesNew: true, end: 'stay' },
  { failing: { minutes: 3 }, settingNamesNew: true, end: 'stay, may have left' },
  { failing: { minutes: 30 }, settingNamesNew: true, end: 'stay, may have left' },
  { as: 'RefusedStillNewVersion', passed: MOVED, end: 'stay, may have left' },
  { as: 'RefusedStillNewVersion', passed: OPENED, end: 'stay, may have left' },
  { passed: OPENED, end: 'repeat' },
  { passed: OPENED, failing: { minutes: 30, after: 5 }, end: 'repeat' },
  { as: 'RefusedNothingToReturnTo', passed: OPENED, end: 'wait from 0 after 5' },
  { passed: [], end: 'wait from 0 after 0' },
  { passed: MOVED, end: 'wait from 0 after 3' },
  { passed: MOVED, failing: { minutes: 14, after: 3 }, end: 'wait from 14 after 3' },
  { passed: MOVED, failing: { minutes: 15, after: 3 }, end: 'open from 15 after 3' },
  { passed: BEFORE_SETTING, failing: { minutes: 15, after: 3 }, end: 'open from 15 after 3' },
  { passed: MOVED, failing: { minutes: 15, after: 2 }, end: 'wait from 0 after 3' },
  { passed: MOVED, failing: { minutes: 14 }, end: 'wait from 14' },
  { passed: MOVED, failing: { minutes: 15 }, end: 'open from 15' },
  {
    as: 'RefusedNothingToReturnTo',
    failing: { minutes: 15, after: 0 },
    end: 'open from 15 after 0',
  },
];

function describeChoice(choice: ReturnType<typeof chooseEnd>): string {
  if (choice.choice === 'stay') return choice.mayHaveLeft ? 'stay, may have left' : 'stay';
  if (choice.choice === 'repeat') return 'repeat';
  const { since, after } = choice.failing;
  const minutes = (NOW - since) / MINUTE_MS;
  return `${choice.choice} from ${minutes}${after === undefined ? '' : ` after ${after}`}`;
}

describe('a refused rollback', () => {
  it.each(TABLE)(
    '$as $passed, failing for $failing, setting on new $settingNamesNew: $end',
    (row) => {
      const { as = 'RefusedCredentials', passed = [], failing, settingNamesNew = false, end } = row;
      const found = failing && { since: NOW - failing.minutes * MINUTE_MS, after: failing.after };
      const entries = passed.map((stage) => [stage, {}]);
      const journal = {
        passed: { ...Object.fromEntries(entries), ...(found && { '#failing': { found } }) },
      };
      const choice = chooseEnd({ refusedAs: as, journal, settingNamesNew, now: NOW });
      expect(describeChoice(choice)).toBe(end);
    },
  );
});
