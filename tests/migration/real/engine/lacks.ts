// Parts of a Qdrant that belong to its server, and that its engine lacks: the tests of the contract that need them.

interface Lack {
  readonly part: string;
  /** Tests that fail without it: file and full title */
  readonly without: RegExp;
}

export const LACKS: readonly Lack[] = [
  {
    part: 'snapshots over HTTP',
    without: /vector-store\/(snapshots|restore-by-hand)\.test/,
  },
  {
    part: 'named vectors that are added to a collection in use',
    without:
      /keyword-fill\.test|slot-trial\.test.* > succeeds on a collection without|vector-slots\.test.* > (a slot |no collection|values of a vector)/,
  },
  {
    part: 'settings of optimizer, replication, quantisation and strict mode',
    without: /collections\.test.* > a collection gets|slot-trial\.test.* > succeeds on an indexed/,
  },
];
