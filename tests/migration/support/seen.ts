// Behaviour of the stand-ins that was seen on real servers, each with the version, the date and the contract test that both
// pass

export interface Observation {
  readonly behaviour: string;
  readonly on: string;
  /** Day on which the behaviour was seen, or UNDATED. */
  readonly date: string;
  /** File below tests/migration, and a part of a title; without one, no test runs on stand-in and server alike. */
  readonly test?: readonly [file: string, title: string];
}

const QDRANT = 'Qdrant 1.18.2';
const UNDATED = 'before 2026-11-23';
const SLOTS = 'contract/vector-store/vector-slots.test.ts';
const POINTS = 'contract/vector-store/points.test.ts';
const COLLECTIONS = 'contract/vector-store/collections.test.ts';
const SNAPSHOTS = 'contract/vector-store/snapshots.test.ts';

function createObservation(
  behaviour: string,
  test: Observation['test'],
  details: Partial<Observation> = {},
): Observation {
  return { behaviour, on: QDRANT, date: UNDATED, ...(test && { test }), ...details };
}

export const OBSERVATIONS: readonly Observation[] = [
  createObservation('The order of the keys of a vector object differs from response to response', [
    POINTS,
    'of a keyword slot contain what was written, in any order',
  ]),
  createObservation("A keyword vector that the store makes from a text equals mem0's", [
    POINTS,
    'makes a keyword vector of a text if the store has the model',
  ]),
  createObservation('A text of only stop words has a keyword vector, which is empty', [
    POINTS,
    'fills the slot with an empty vector for a text of stop words',
  ]),
  createObservation('`insert_only` on an id that exists changes nothing, and returns 200', [
    POINTS,
    'never overwrites an existing point',
  ]),
  createObservation('The name of a collection or of an alias cannot be used twice', [
    COLLECTIONS,
    'an alias exists and is followed, but is not listed as a collection, and no collection can take its name',
  ]),
  createObservation('Aliases are deleted with their collection', [
    COLLECTIONS,
    'aliases are deleted with their collection',
  ]),
  createObservation('A facet without an index is refused', [
    POINTS,
    'by a key are refused without an index on it',
  ]),
  createObservation('A download continues with `Range`', [
    SNAPSHOTS,
    'a download can resume where it stopped',
  ]),
  createObservation('A second deletion of a snapshot returns 404', [
    SNAPSHOTS,
    'a snapshot can be deleted',
  ]),
  createObservation('A file with a wrong checksum creates no collection', [
    SNAPSHOTS,
    'a file that does not match its checksum creates no collection',
  ]),
  createObservation(
    'A named vector can be added to a collection in use, but not again with other settings',
    [SLOTS, 'a slot can be added again with the same settings, but not with others'],
    { date: '2026-11-23' },
  ),
  createObservation(
    'Points without a named vector are counted and found; adding the vector keeps the payload and the dense vector',
    [SLOTS, 'points without the slot are counted and found, with their dense vectors and payloads'],
    { date: '2026-11-23' },
  ),
  createObservation(
    'An update of a vector can be conditional on a filter',
    [SLOTS, 'an update is applied only if the text has not changed since it was read'],
    { date: '2026-11-23' },
  ),
  createObservation(
    'A change of a payload keeps the keyword vector, an upsert drops it',
    [SLOTS, 'an upsert of the whole point empties the slot, but a change of its payload does not'],
    { date: '2026-11-23' },
  ),
  createObservation(
    'A named vector that is added during an optimization undoes every deletion since the optimization began',
    [
      'contract/steps/deletions.test.ts',
      'waits until the store has optimized it, so that no deletion is undone',
    ],
    { on: 'Qdrant 1.18.3, release build', date: '2026-11-25' },
  ),
  createObservation(
    'A change of the settings of a collection during an optimization undoes every deletion since the optimization began',
    ['contract/steps/deletions.test.ts', 'removes and counts deleted memories that return anyway'],
    { on: 'no server: read in the sources of Qdrant 1.18.3 and 1.19.0', date: '2026-11-26' },
  ),
  createObservation(
    'A number beyond 32 bits in a vector is kept as null: no search finds the point',
    [POINTS, 'are stored as null, found by no search, and refused if copied'],
    { on: 'the engine of Qdrant (qdrant-edge-py 0.9.0), without its server', date: '2026-11-25' },
  ),
  createObservation(
    'mem0 1.x works on a collection with the slot, and empties the slot of each point that it writes',
    undefined,
    {
      on: 'mem0 1.0.11 on Qdrant 1.18.2',
      date: '2026-11-23',
    },
  ),
  createObservation('mem0 2.x finds points by the keyword vectors that the store made', undefined, {
    on: 'mem0 2.2.1 on Qdrant 1.18.2',
    date: '2026-11-23',
  }),
];

/** Text of docs/migration/seen.md */
export function renderPage(): string {
  const rows = OBSERVATIONS.map(({ behaviour, on, date, test }) => {
    const shown = test ? `\`${test[0]}\`, "${test[1]}"` : 'seen by hand only';
    return `|${behaviour}|${on}|${date}|${shown}|`;
  });
  return `# Seen on real servers

Behaviour of real servers that the stand-ins of the sandbox repeat, with version and date. Tests are below \`tests/migration/\`; those of
\`contract/vector-store/\` run on a real Qdrant as well if one is given ([real-stores.md](real-stores.md)). Qdrant 1.19 was not tried on a server.

|Behaviour|Seen on|When|Test|
|---|---|---|---|
${rows.join('\n')}
`;
}
