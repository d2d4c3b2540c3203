// Parts of the Qdrant server that its storage engine lacks, and the tests that fail on the engine for that reason.

interface Lack {
  readonly part: string;
  /** Tests that fail without the part: file and full title */
  readonly without: RegExp;
}

export const LACKS: readonly Lack[] = [
  {
    part: 'several shards, replicas and strict mode',
    without: /collections\.test.* > a collection gets another one's configuration/,
  },
];
