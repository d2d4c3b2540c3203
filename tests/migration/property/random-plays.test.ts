// Any play of users and operators, with kills, lost answers, late and early writes: nothing acknowledged is lost, users are
// never served from an incomplete collection, and writes are opened again. The invariants are those of the checked model
// (docs/migration/model), on the code itself. The seed is printed where a play fails; SEED=n plays others.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IS_FULL, seeded } from '../../shared/support/seed.ts';
import { type Act, type Incident, startPlay, type Write } from '../support/random-play.ts';

const FULL_RUNS = 600;
const MAX_ACTS = 9;
/** A cutover makes some 300 calls, a hundred of them since the freeze, and fifty since the deployment. */
const MAX_CALLS = { begin: 300, freeze: 150, deploy: 60 };

const write: fc.Arbitrary<Write> = fc.record({
  writer: fc.constantFrom('user', 'user', 'late', 'early', 'forgotten'),
  change: fc.constantFrom('create', 'change', 'delete'),
});
const kind = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), write }),
  fc.record({
    kind: fc.constantFrom('killed' as const, 'answer lost' as const, 'emptied' as const),
  }),
);
const incident: fc.Arbitrary<Incident> = fc
  .constantFrom('begin' as const, 'freeze' as const, 'deploy' as const)
  .chain((since) =>
    fc
      .tuple(fc.integer({ min: 1, max: MAX_CALLS[since] }), kind)
      .map(([calls, what]) => ({ since, calls, ...what })),
  );
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('write' as const), write }) },
  { weight: 1, arbitrary: fc.constant({ act: 'empty the standby' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 10, 40),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('command' as const),
      command: fc.constantFrom('copy', 'cutover', 'cutover', 'rollback', 'roll back by machine'),
      incidents: fc.array(incident, { maxLength: 3 }),
    }),
  },
);

/** Beginnings of lines in the diaries of plays that together prove something. */
const MUST_HAPPEN = [
  ...['user ', 'late ', 'early ', 'forgotten ', 'killed after ', 'answer to '],
  ...['copy: done', 'cutover: done', 'cutover: Killed', 'cutover: Refused'],
  ...['rollback: done', 'rollback: Killed', 'roll back by machine: done'],
];

it('loses nothing, serves nothing incomplete, and opens writes again', {
  timeout: 3_600_000,
}, async () => {
  const lines: string[] = [];
  const plays = fc.asyncProperty(
    fc.array(act, { minLength: 2, maxLength: MAX_ACTS }),
    async (acts) => {
      const play = await startPlay();
      for (const one of acts) await play.perform(one);
      await play.settle();
      expect(await play.verify(), play.diary.join('\n')).toEqual([]);
      lines.push(...play.diary);
    },
  );
  await fc.assert(plays, seeded(FULL_RUNS));
  if (!IS_FULL) return;
  const missing = MUST_HAPPEN.filter((begin) => !lines.some((line) => line.startsWith(begin)));
  expect(missing).toEqual([]);
});
