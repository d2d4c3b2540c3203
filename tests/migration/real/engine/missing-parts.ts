// Parts of the Qdrant server that its storage engine lacks, and the tests that fail on the engine for that reason.

interface MissingPart {
  readonly part: string;
  /** Tests that fail without the part: file and full title */
  readonly without: RegExp;
}

export const MISSING_PARTS: readonly MissingPart[] = [
  {
    part: 'several shards, replicas and strict mode',
    without: /collections\.test.* > a collection gets another one's configuration/,
  },
];
