// Parts of a Qdrant's server that its engine lacks: the tests that need it fail on the engine.

interface Lack {
  readonly part: string;
  /** Tests that fail without it: file and full title */
  readonly without: RegExp;
}

export const LACKS: readonly Lack[] = [
  {
    part: 'several shards, replicas and strict mode',
    without: /collections\.test.* > a collection gets what another one is configured with/,
  },
];
