// Finds the release that the current code is compared with. contract/previous-release.full.test.ts uses its commit.
import { expect, it } from 'vitest';
import { parseNewestRelease } from '../../../../bench/ledger/releases.ts';

const COMMIT = 'dd2c40ca280c916c5266a47552869992a4370065';

it.each([
  [
    `## [Unreleased]\n\n- A.\n\n## [0.1.0] - 2026-11-23\n\nFirst version (commit ${COMMIT}).\n`,
    '0.1.0',
    COMMIT,
    `First version (commit ${COMMIT}).`,
  ],
  [
    `## [Unreleased]\n\n## [1.2.0] - 2027-01-01\n\n- A.\n\n## [0.1.0]\n\ncommit ${COMMIT}\n`,
    '1.2.0',
    undefined,
    '- A.',
  ],
])(
  'the latest release is the newest version of the changelog',
  (changelog, version, commit, notes) => {
    expect(parseNewestRelease(changelog)).toEqual({ version, commit, notes });
  },
);

it('there is no latest release if the changelog has no version', () => {
  expect(() => parseNewestRelease('## [Unreleased]\n\n- A.\n')).toThrow('has no version');
});
