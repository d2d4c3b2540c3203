import { expect, test } from 'vitest';
import { fingerprintOf } from '../../../../lib/migration/graph/fingerprint.ts';
import { compareFingerprints, compareSchema } from '../../../../lib/migration/graph/restore.ts';
import { createSandboxGraph } from '../../../../local/sandbox/graph.ts';
import { fillWithSample } from '../../../support/filled-graph.ts';
import { SAMPLE_SCHEMA } from '../../../support/graph-samples.ts';

const LOOKUP = { name: 'index_1', type: 'LOOKUP', statement: 'CREATE LOOKUP INDEX `index_1` ...' };

test('every count that differs is told with both sides, those of absent names as 0', async () => {
  const found = await fingerprintOf(await fillWithSample(createSandboxGraph()));
  const wanted = {
    ...found,
    nodes: found.nodes + 1,
    nodesPerUser: { ...found.nodesPerUser, dave: 1 },
    nodesPerLabel: Object.fromEntries(
      Object.entries(found.nodesPerLabel).filter(([label]) => label !== 'constructor'),
    ),
  };
  expect(compareFingerprints(wanted, found)).toEqual([
    { what: 'nodes', wanted: 8, found: 7 },
    { what: 'nodesPerLabel constructor', wanted: 0, found: 1 },
    { what: 'nodesPerUser dave', wanted: 1, found: 0 },
  ]);
  expect(compareFingerprints(found, found)).toEqual([]);
});

test('rules are compared by name; lookup indexes are of every database and do not count', () => {
  const [first, ...rest] = SAMPLE_SCHEMA;
  const changed = SAMPLE_SCHEMA.map((rule) => ({ ...rule, statement: `${rule.statement} ...` }));
  expect(compareSchema([LOOKUP, ...SAMPLE_SCHEMA], SAMPLE_SCHEMA)).toEqual([]);
  expect(compareSchema(SAMPLE_SCHEMA, [...SAMPLE_SCHEMA, { ...LOOKUP, type: 'RANGE' }])).toEqual(
    [],
  );
  expect(compareSchema(SAMPLE_SCHEMA, rest)).toEqual([
    { what: 'schema unique_code', wanted: first?.statement, found: 'nothing' },
  ]);
  expect(compareSchema(SAMPLE_SCHEMA, changed)).toHaveLength(SAMPLE_SCHEMA.length);
});
