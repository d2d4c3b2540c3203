// Checkpoints that were stored before steps had journals, and the journals that are read from them. The states of backups,
// uploads and restores were taken from the table of such a version; those of a rebuild, a copy and a switch were written by hand.
import { describe, expect, it } from 'vitest';
import { NOTHING_COMPARED } from '../../../../lib/migration/reconcile-report.ts';
import type { RecordedJournal } from '../../../../lib/migration/runs/journal.ts';
import {
  readBackupJournal,
  readCopyJournal,
  readRebuildJournal,
  readRestoreJournal,
  readSwitchJournal,
  readUploadJournal,
} from '../../../../lib/migration/steps/stored-checkpoints.ts';

const DIGEST = 'd4fbe4a9e3bccfe2c2ad0ff9a513b01c803ea7391bd55d00a02f7b111aa8fd54';
const CHECKSUM = '8a196ef2000e77730a2c49c8304e09a276c025cd208f3a18b00491ff42663d60';

const progress = {
  segments: [{ prefix: 'run-a/base-2-listed', parts: 1, from: null }],
  digest: DIGEST,
  points: 6,
};
const listing = { isComplete: true, nextOffset: null, progress };
const snapshot = {
  name: 'memories-7431927411890327-2026-03-01-09-00-00.snapshot',
  size: 1_396,
  checksum: CHECKSUM,
};
const requests = [{ at: 1_772_355_600_000, accepted: 1_772_355_600_000 }];
const parts = { prefix: 'run-a/snapshot-3', count: 1, bytes: 1_396 };
const kept = { ...snapshot, parts, sha256: CHECKSUM };
const taking = { known: [], requests, snapshot, parts, kept };
const seen = { at: 1_772_355_601_000 };
const restoring = { upload: 3, isUploaded: true, seen, restored: 6 };
const counted = {
  contents: {
    points: 6,
    expired: 0,
    digest: DIGEST,
    usersDigest: '8c3abcfd3e3eb041a16c998baafe64eab5e5007f80211c302b0f5651ebbcf2ea',
    users: 2,
    unreachable: { absent: 0, 'not-a-text': 0, 'white-space': 0, 'camel-case': 0 },
  },
  counts: {
    artifact: 'run-a/user-counts-4.txt',
    digest: 'c85d9fae8999f2952456d6828d0abcf7f13602d25a60c2c26eeca0041be360dd',
    recordedAt: 1_772_355_602_000,
    facts: { points: 6, users: 2 },
  },
};
const dumped = { kind: 'exact', prefix: 'run-a/graph-4' };
const graph = { ...dumped, nodes: 2, relationships: 1, digest: DIGEST };

const made = { 'snapshot-made': { found: { known: [], requests, snapshot } } };
const intact = {
  ...made,
  'snapshot-kept': { found: parts },
  'snapshot-intact': { found: kept },
};
const listed = { listed: { found: progress } };

describe('the checkpoint of a backup', () => {
  it.each<[string, object, object]>([
    ['without a snapshot', { listing, taking: {}, restoring: {} }, { passed: listed }],
    [
      'while it lists',
      {
        listing: { isComplete: false, nextOffset: '"0a"', progress },
        taking: {},
        restoring: {},
      },
      { passed: {}, open: { stage: 'listed', cursor: { listing: progress, nextOffset: '"0a"' } } },
    ],
    [
      'with a request that may have been sent',
      { listing, taking: { known: ['other'], requests: [{ at: 9 }] }, restoring: {} },
      {
        passed: listed,
        open: { stage: 'snapshot-made', cursor: { known: ['other'], requests: [{ at: 9 }] } },
      },
    ],
    [
      'while it downloads',
      { listing, taking: { ...taking, kept: undefined }, restoring: {} },
      { passed: { ...listed, ...made }, open: { stage: 'snapshot-kept', cursor: parts } },
    ],
    [
      'while the store restores, inside a window',
      {
        listing: { isComplete: false, nextOffset: null },
        taking,
        restoring: { ...restoring, restored: undefined },
      },
      {
        passed: intact,
        open: {
          stage: 'restored',
          cursor: {
            passed: {
              'name-cleared': { found: 3 },
              'snapshot-sent': { found: { isSent: true, at: seen.at } },
            },
            open: { stage: 'readable', cursor: seen },
          },
        },
      },
    ],
    [
      'with everything but its manifest',
      { listing, taking, restoring, counted, isRemoved: true, dumped, graph },
      {
        passed: {
          ...listed,
          ...intact,
          restored: { found: 6 },
          counted: { found: counted },
          'proof-removed': { found: true },
          'graph-dumped': { found: dumped },
          'graph-read-back': { found: graph },
        },
      },
    ],
  ])('%s', (_, state, journal) => {
    const stored = JSON.parse(JSON.stringify(state));
    expect(readBackupJournal(stored)).toEqual(journal);
    expect(readBackupJournal(journal)).toEqual(journal);
  });

  it.each([undefined, 'half of it', { taking: 'elsewhere' }])('is not %j', (state) => {
    expect(readBackupJournal(state)).toBeUndefined();
  });
});

it.each([
  [{ isCleared: true }, { 'earlier-removed': { found: true } }],
  [
    { isCleared: true, made: 'by-new-version', isProved: true },
    {
      'earlier-removed': { found: true },
      made: { found: 'by-new-version' },
      configured: { found: true },
      'hybrid-proved': { found: true },
    },
  ],
  [
    { isCleared: true, made: 'explicitly', isProved: false, embeddings: 'unverified' },
    {
      'earlier-removed': { found: true },
      made: { found: 'explicitly' },
      configured: { found: true },
      embeddings: { found: 'unverified' },
    },
  ],
])('a rebuild with %j', (state, passed) => {
  expect(readRebuildJournal(state)).toEqual({ passed });
});

describe('the checkpoint of a copy', () => {
  const report = { ...NOTHING_COMPARED, compared: 60, inserted: 60 };
  const ended = { isComplete: true, nextOffset: null, report };
  const begun = { isComplete: false, nextOffset: '"0a"', report };
  const filled = { filled: { found: NOTHING_COMPARED } };
  const compared = { compared: { found: { report, perSecond: 700 } } };
  const walk = { since: 7, filled: 12, walk: { points: 12 } };
  const parity = { sampling: { isComplete: false, nextOffset: null, kept: [] }, probes: [] };
  it.each<[string, object, RecordedJournal]>([
    [
      'while the first copy ends',
      { mode: 'fill', reached: ended },
      { passed: {}, open: { stage: 'filled', cursor: { reached: ended } } },
    ],
    [
      'while it compares',
      { mode: 'repair', compared: ended, reached: begun },
      { passed: filled, open: { stage: 'compared', cursor: { compared: ended, reached: begun } } },
    ],
    [
      'while it moves entities',
      { mode: 'repair', reached: ended, perSecond: 700, entities: { isMaking: true } },
      {
        passed: { ...filled, ...compared },
        open: { stage: 'entities-equal', cursor: { isMaking: true } },
      },
    ],
    [
      'while it searches',
      { mode: 'repair', reached: ended, perSecond: 700, entities: { reached: ended }, parity },
      {
        passed: { ...filled, ...compared, 'entities-equal': { found: true } },
        open: { stage: 'searched', cursor: parity },
      },
    ],
    ['in place', walk, { passed: {}, open: { stage: 'keywords-filled', cursor: walk } }],
  ])('%s', (_, state, journal) => {
    expect(readCopyJournal(JSON.parse(JSON.stringify(state)))).toEqual(journal);
  });
});

it('an upload whose second collection is under way', () => {
  const uploads = {
    uploaded: { taking, restoring, isProved: true },
    uploaded_entities: { taking, restoring: {}, isProved: false },
  };
  const cursor = { passed: intact };
  expect(readUploadJournal(uploads)).toEqual({
    passed: { uploaded: { found: true } },
    open: { stage: 'uploaded_entities', cursor },
  });
});

describe('the checkpoint of a switch', () => {
  const toOldPassed = (...stages: string[]) => {
    const entries = stages.map((stage, at) => [stage, { workedMs: at, facts: { [stage]: at } }]);
    return { passed: Object.fromEntries(entries) };
  };
  const toPassed = (...stages: string[]) => {
    const entries = stages.map((stage, at) => [stage, { workedMs: at, found: { [stage]: at } }]);
    return { passed: Object.fromEntries(entries) };
  };
  const look = { refusedSince: 7 };
  const walk = { reached: { isComplete: false, nextOffset: '"0a"' } };
  const carry = { way: 'carry', returnTo: 'memories', acknowledged: 0, mayHaveLeaked: false };
  const restores = { ...carry, returnTo: 'restored', restores: kept };
  const refused = { name: 'RefusedStillNewVersion', why: 'It answers.', data: {} };
  const sent = { passed: { 'is-to-be-restored': { found: true } } };
  it.each<[string, object, RecordedJournal]>([
    [
      'while writes are frozen',
      { ...toOldPassed(), reached: look },
      { ...toPassed(), open: { stage: 'frozen', cursor: look } },
    ],
    [
      'inside its backup',
      { ...toOldPassed('frozen'), reached: { listing, taking: {}, restoring: {} } },
      { ...toPassed('frozen'), open: { stage: 'backed-up', cursor: { passed: listed } } },
    ],
    [
      'while both are made equal',
      { ...toOldPassed('frozen', 'backed-up'), reached: walk },
      { ...toPassed('frozen', 'backed-up'), open: { stage: 'equal', cursor: walk } },
    ],
    [
      'between two stages',
      toOldPassed('frozen', 'backed-up', 'equal', 'prepared', 'uploaded'),
      toPassed('frozen', 'backed-up', 'equal', 'prepared', 'uploaded'),
    ],
    [
      'while late writes are carried over',
      { ...toOldPassed('proved', 'last-look'), reached: walk },
      { ...toPassed('proved', 'last-look'), open: { stage: 'carried', cursor: walk } },
    ],
    [
      'back, while both are made equal',
      { ...toOldPassed('freezing', 'frozen'), reached: walk, plan: carry },
      {
        ...toPassed('freezing', 'frozen'),
        open: { stage: 'equal', cursor: walk },
        noted: { plan: carry },
      },
    ],
    [
      'back, once more to a snapshot, while writes are frozen',
      { ...toOldPassed('freezing'), reached: sent, plan: restores, failingSince: 9 },
      {
        ...toPassed('freezing'),
        open: { stage: 'restored', cursor: sent },
        noted: { plan: restores, failingSince: 9 },
      },
    ],
    [
      'back to a snapshot, while both are made equal',
      { ...toOldPassed('restored', 'freezing', 'frozen'), reached: walk, plan: restores },
      {
        ...toPassed('restored', 'freezing', 'frozen'),
        open: { stage: 'equal', cursor: walk },
        noted: { plan: restores },
      },
    ],
    [
      'back, that was refused',
      { ...toOldPassed('freezing', 'setting-changed', 'setting-restored'), refused, plan: carry },
      {
        ...toPassed('freezing', 'setting-changed', 'setting-restored'),
        noted: { plan: carry, refused },
      },
    ],
    [
      'back, of which nothing was proved',
      { ...toOldPassed('freezing'), unproved: 'It is gone.' },
      { ...toPassed('freezing'), noted: { unproved: { to: 'memories', why: 'It is gone.' } } },
    ],
  ])('%s', (_, state, journal) => {
    const stored = JSON.parse(JSON.stringify({ to: 'memories', ...state }));
    const read = readSwitchJournal(stored);
    expect(JSON.parse(JSON.stringify(read))).toEqual({ noted: {}, ...journal });
    expect(readSwitchJournal(journal)).toEqual(journal);
  });

  it('has not begun without a checkpoint', () => {
    expect(readSwitchJournal(undefined)).toBeUndefined();
  });

  it.each(['half of it', { to: 'memories' }])('refuses %j, which is not a beginning', (state) => {
    expect(() => readSwitchJournal(state)).toThrow(/Invalid/);
  });
});

it('a restore before a rollback that was sent is not sent again', () => {
  const sent = { upload: 20, isUploaded: true, seen };
  expect(readRestoreJournal(sent)).toMatchObject({
    passed: { 'is-to-be-restored': { found: true } },
    open: { stage: 'restored', cursor: { open: { stage: 'readable', cursor: seen } } },
  });
});
