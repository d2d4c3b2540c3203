// What cannot be undone is done only after the run's id was typed, to the letter, by somebody who is there.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirmRun } from '../../../../local/migrate/confirm.ts';
import { named } from '../../../support/migration/refused.ts';

const RUN = 'run-a';
const WHAT = 'rollback on stage prod: goes back to the old version';

function createTerminal({ isTTY = true } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  const shown: string[] = [];
  output.on('data', (chunk) => shown.push(String(chunk)));
  const terminal = {
    input: input as unknown as NodeJS.ReadStream,
    output: output as unknown as NodeJS.WriteStream,
  };
  return { terminal, input, shown };
}

describe('a confirmation', () => {
  it.each([`${RUN}\n`, `  ${RUN} \r\n`])('is the id, typed: %j', async (typed) => {
    const { terminal, input, shown } = createTerminal();
    const confirming = confirmRun({ runId: RUN, what: WHAT, typed: undefined }, terminal);
    input.write(typed);
    await expect(confirming).resolves.toBeUndefined();
    expect(shown.join('')).toContain(`${WHAT}.\nTo do this, type the run's id, run-a: `);
  });

  it.each([
    ['another id', 'run-b\n'],
    ['yes', 'yes\n'],
    ['nothing', '\n'],
    ['a beginning', 'run\n'],
    ['other capitals', 'RUN-A\n'],
  ])('is not %s', async (_, typed) => {
    const { terminal, input } = createTerminal();
    const confirming = confirmRun({ runId: RUN, what: WHAT, typed: undefined }, terminal);
    input.write(typed);
    await expect(confirming).rejects.toEqual(named('RefusedUnconfirmed'));
  });

  it('is not somebody who goes away', async () => {
    const { terminal, input } = createTerminal();
    const confirming = confirmRun({ runId: RUN, what: WHAT, typed: undefined }, terminal);
    input.end();
    await expect(confirming).rejects.toEqual(named('RefusedUnconfirmed'));
    await expect(confirming).rejects.toThrow(/^Nobody was there/);
  });

  it('is not asked for where nobody types, nor where it was given', async () => {
    const { terminal, shown } = createTerminal({ isTTY: false });
    const asked = confirmRun({ runId: RUN, what: WHAT, typed: undefined }, terminal);
    await expect(asked).rejects.toEqual(named('RefusedUnconfirmed'));
    await confirmRun({ runId: RUN, what: WHAT, typed: RUN }, terminal);
    await expect(confirmRun({ runId: RUN, what: WHAT, typed: 'run-b' }, terminal)).rejects.toThrow(
      '"run-b"',
    );
    expect(shown).toEqual([]);
  });
});
