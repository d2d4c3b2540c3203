// Whatever users and operators do, with kills, lost responses, late and early writes, no acknowledged write is lost, users are
// never served from an incomplete collection, and writes are opened again. The invariants are those of the checked model
// (docs/migration/model), on the code itself. The seed is printed if a play fails; SEED=n selects other plays.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IS_QUICK, oneInEvery } from '../../shared/support/quick-cases.ts';
import { IS_FULL, seeded } from '../../shared/support/seed.ts';
import type { Change, Damage, Write, Writer } from '../support/play-users.ts';
import {
  type Act,
  type Incident,
  type Play,
  type PlayCommand,
  startPlay,
  type Way,
} from '../support/random-play.ts';

const [FULL_RUNS, RUNS] = [300, IS_QUICK ? 6 : 30];
const MAX_ACTS = 9;
/** A cutover makes about 300 calls: 100 of them after the freeze, 50 after the deployment, 20 after writes opened. */
const MAX_CALLS = { begin: 300, freeze: 150, deploy: 60, prove: 8, open: 20 };

const write: fc.Arbitrary<Write> = fc.record({
  writer: fc.constantFrom('user', 'user', 'late', 'early', 'forgotten'),
  change: fc.constantFrom('create', 'change', 'delete'),
});
const kind = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), write }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'killed' as const,
        'answer lost' as const,
        'time up' as const,
        'not done' as const,
        'by hand' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dropped' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('damaged' as const),
      damage: fc.constantFrom('emptied' as const, 'overwritten' as const),
    }),
  },
);
const calls = (max: number) => fc.integer({ min: 0, max });
const anyIncident = fc
  .constantFrom('begin' as const, 'freeze' as const, 'deploy' as const, 'open' as const)
  .chain((since) =>
    fc.tuple(calls(MAX_CALLS[since]), kind).map(([n, what]) => ({ since, calls: n, ...what })),
  );
/** Incidents that only one safeguard notices, within a few calls */
const narrowIncident = fc.oneof(
  // A late write right before writes are opened, past the final check
  fc.record({
    since: fc.constant('open' as const),
    calls: fc.constant(0),
    kind: fc.constant('write' as const),
    write: fc.record({
      writer: fc.constant('late' as const),
      change: fc.constantFrom('create', 'change', 'delete'),
    }),
  }),
  // Damage that comes after the proof of the new version
  fc.record({
    since: fc.constant('prove' as const),
    calls: calls(MAX_CALLS.prove),
    kind: fc.constant('damaged' as const),
    damage: fc.constantFrom('emptied' as const, 'overwritten' as const),
  }),
  // An interruption or another write, right before or after one of the few writes of a walk
  fc.record({
    since: fc.constant('store' as const),
    calls: fc.integer({ min: 0, max: 1 }),
    kind: fc.constantFrom('killed' as const, 'answer lost' as const),
  }),
  fc.record({
    since: fc.constant('store' as const),
    calls: fc.constant(0),
    kind: fc.constant('write' as const),
    write,
  }),
  // A deployment that is reported as done without being done
  fc.record({
    since: fc.constant('freeze' as const),
    calls: fc.integer({ min: 1, max: MAX_CALLS.freeze }),
    kind: fc.constant('not done' as const),
  }),
);
const incident: fc.Arbitrary<Incident> = fc.oneof(
  { weight: 2, arbitrary: anyIncident },
  { weight: 1, arbitrary: narrowIncident },
);
const OFTEN: readonly PlayCommand[] = [
  ...(['copy', 'cutover', 'cutover', 'cutover', 'rollback', 'roll back by machine'] as const),
  ...(['rollback as it was', 'rollback to the snapshot'] as const),
];
const SELDOM: readonly PlayCommand[] = [
  ...(['retention', 'abort', 'backup', 'rebuild'] as const),
  ...(['copy with deletions', 'cutover with deletions', 'rollback with deletions'] as const),
];
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('write' as const), write }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('damage' as const),
      where: fc.constantFrom('standby' as const, 'active' as const),
      damage: fc.constantFrom('emptied' as const, 'overwritten' as const, 'deleted' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 10, 40),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      act: fc.constant('command' as const),
      command: fc.constantFrom(...OFTEN),
      incidents: fc.array(incident, { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('command' as const),
      command: fc.constantFrom(...SELDOM),
      incidents: fc.constant([]),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('command' as const),
      command: fc.constantFrom<PlayCommand>('confirm', 'confirm', 'confirm undone'),
      incidents: fc.constant([]),
    }),
  },
);

const commandAct = (name: PlayCommand, ...incidents: Incident[]): Act => ({
  act: 'command',
  command: name,
  incidents,
});
const writeAct = (writer: Writer, change: Change): Act => ({
  act: 'write',
  write: { writer, change },
});
const damageAct = (where: 'standby' | 'active', damage: Damage): Act => ({
  act: 'damage',
  where,
  damage,
});

/** A late write after the final check, right before writes are opened */
const lateWrite = (change: Change): Incident => ({
  since: 'open',
  calls: 0,
  kind: 'write',
  write: { writer: 'late', change },
});

/** A late write is carried over, the command is killed before it has recorded that, and its user deletes the memory. */
const CARRIED_AND_DELETED: readonly Act[] = [
  commandAct('cutover', lateWrite('create'), { since: 'store', calls: 1, kind: 'killed' }),
  writeAct('user', 'delete'),
];

/**
 * Plays that each fail without one safeguard of the model, by its name in the model. Random plays seldom hit them. The mutants
 * show that each play still fails: if its incidents no longer happen at the right moment, it proves nothing.
 */
const SAFEGUARDS: Readonly<Record<string, readonly Act[]>> = {
  NO_FREEZE_PROOF: [commandAct('cutover', { since: 'begin', calls: 2, kind: 'not done' })],
  NO_VERSION_PROOF: [commandAct('cutover', { since: 'freeze', calls: 20, kind: 'not done' })],
  NO_LAST_LOOK: [
    commandAct('cutover', { since: 'prove', calls: 1, kind: 'damaged', damage: 'overwritten' }),
  ],
  NO_SECOND_LOOK: [commandAct('cutover', lateWrite('create'))],
  FAILURE_WAITS: [commandAct('cutover', { since: 'begin', calls: 2, kind: 'not done' })],
  SETTING_AFTER_DEPLOYMENT: [commandAct('cutover')],
  NO_CONDITION: [
    commandAct('cutover'),
    writeAct('user', 'change'),
    commandAct('rollback', {
      since: 'store',
      calls: 0,
      kind: 'write',
      write: { writer: 'forgotten', change: 'change' },
    }),
  ],
  UNKNOWN_IS_ABSENT: [
    commandAct(
      'cutover',
      { since: 'walk', calls: 1, kind: 'time up' },
      { since: 'walk', calls: 12, kind: 'killed' },
    ),
    commandAct('roll back by machine'),
    writeAct('user', 'delete'),
    commandAct('copy'),
  ],
  NO_NOTE: [...CARRIED_AND_DELETED, commandAct('cutover')],
  NOTES_DROPPED: [
    ...CARRIED_AND_DELETED,
    writeAct('forgotten', 'create'),
    commandAct('cutover', { since: 'store', calls: 1, kind: 'killed' }),
    commandAct('cutover'),
  ],
  HOME_AFTER_OPENING: [
    commandAct('cutover', { since: 'open', calls: 1, kind: 'killed' }),
    writeAct('user', 'create'),
    commandAct('rollback'),
  ],
  TWO_VERSIONS: [commandAct('cutover'), writeAct('forgotten', 'create'), commandAct('rollback')],
  NO_COMPARISON: [
    commandAct('copy'),
    writeAct('user', 'change'),
    commandAct('cutover', { since: 'freeze', calls: 1, kind: 'dropped' }),
  ],
  BASE_OUTLIVES_RESTORE: [
    commandAct('cutover', lateWrite('change')),
    damageAct('standby', 'deleted'),
    commandAct('rollback'),
  ],
  NO_FUSE: [
    commandAct('cutover'),
    damageAct('active', 'emptied'),
    commandAct('rollback'),
    commandAct('retention'),
  ],
  DAMAGE_AS_DELETIONS: [
    commandAct('cutover'),
    damageAct('standby', 'emptied'),
    commandAct('rollback'),
  ],
  DAMAGE_AS_CHANGES: [
    commandAct('cutover'),
    damageAct('standby', 'overwritten'),
    commandAct('rollback'),
  ],
  NO_LOOK_BEFORE_REMOVAL: [
    commandAct('cutover'),
    writeAct('forgotten', 'create'),
    commandAct('retention'),
  ],
  ABORT_REMOVES_ALL: [
    commandAct('cutover'),
    commandAct('rollback'),
    writeAct('forgotten', 'create'),
    commandAct('abort'),
  ],
};

/** Beginnings of diary lines that must all occur, so that the plays prove enough */
const MUST_HAPPEN = [
  ...[
    'user ',
    'late ',
    'early ',
    'forgotten ',
    'killed after ',
    'answer to ',
    'a write is dropped',
    'time is up after ',
  ],
  ...['freeze is not done', 'deploy-new is not done', 'memories is deleted'],
  ...['copy: done', 'cutover: done', 'cutover: Killed', 'cutover: Refused'],
  ...[
    'rollback: done',
    'rollback: Killed',
    'roll back by machine: done',
    'retention: done',
    'abort: done',
  ],
  ...['rollback as it was: done', 'rollback to the snapshot: done'],
  ...['copy', 'cutover', 'rollback'].map((command) => `${command} with deletions: done`),
  ...['confirm: done, ', 'confirm: RefusedNotNow', 'confirm undone: not done, '],
  ...['backup: RefusedNotNow', 'rebuild: RefusedNotNow'],
  ...['new collection: copied', 'upload: copied', 'in place: copied'],
];

async function perform(acts: readonly Act[], way?: Way): Promise<Play> {
  const play = await startPlay(way);
  for (const next of acts) await play.perform(next);
  await play.endSwitch();
  expect(await play.verify(), play.diary.join('\n')).toEqual([]);
  return play;
}

it('a play in which a person performs every action confirms them all', async () => {
  const actions = ['freeze', 'deploy-new', 'open-writes'];
  const byHand: Incident = { since: 'begin', calls: 0, kind: 'by hand' };
  const play = await perform([
    ...actions.flatMap(() => [commandAct('cutover', byHand), commandAct('confirm')]),
    commandAct('cutover'),
  ]);
  const confirmed = actions.map((action) => `confirm: done, ${action}`);
  expect(play.diary.filter((line) => line.startsWith('confirm'))).toEqual(confirmed);
  expect(play.diary.at(-1)).toBe('cutover: done');
});

describe('a play for the safeguard', () => {
  it.each(oneInEvery(3, Object.entries(SAFEGUARDS)))('%s', async (_, acts) => {
    await perform(acts);
  });
});

it('a random play loses nothing, serves nothing incomplete, and opens writes again', {
  timeout: 3_600_000,
}, async () => {
  const lines: string[] = [];
  const anyWay = fc.constantFrom<Way>(
    'new collection',
    'new collection',
    'new collection',
    'upload',
    'in place',
  );
  const anyActs = fc.array(act, { minLength: 2, maxLength: MAX_ACTS });
  const plays = fc.asyncProperty(anyActs, anyWay, async (acts, way) => {
    lines.push(...(await perform(acts, way)).diary);
  });
  await fc.assert(plays, seeded(FULL_RUNS, RUNS));
  if (!IS_FULL) return;
  const missing = MUST_HAPPEN.filter(
    (beginning) => !lines.some((line) => line.startsWith(beginning)),
  );
  expect(missing).toEqual([]);
});
