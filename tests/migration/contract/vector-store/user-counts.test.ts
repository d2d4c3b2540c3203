// Counts per user are the same whether they come from the user index or from a scan.
import { expect, test } from 'vitest';
import { countUsers, scanCollection } from '../../../../lib/migration/steps/recorded-counts.ts';
import { createPoint, onEveryVectorStore } from '../../support/vector-stores.ts';

const RUN = { runId: 'run-a' };
const USUAL = ['{"user_id":"a"}', '{"user_id":"a"}', '{"user_id":"b"}', '{}'];
const TEST_USER = '{"user_id":"__migration_test_run-a"}';

onEveryVectorStore((subject) => {
  test.each([
    ['with an index', true, [...USUAL, TEST_USER]],
    ['without an index', false, USUAL],
    ['with a user that is in no index', true, [...USUAL, '{"user_id":5}']],
  ])('counts per user are equal to those of a scan %s', async (_, hasIndex, payloads) => {
    const collection = await subject.collection();
    if (hasIndex) {
      const index = { field_name: 'user_id', field_schema: 'keyword' } as const;
      await subject.store.createPayloadIndex(collection, index);
    }
    const points = payloads.map((payload, n) => createPoint(n + 1, payload));
    await subject.store.upsert(collection, points, 'upsert');
    const services = { vectors: subject.store, clock: () => new Date() };
    const counted = await countUsers(services, RUN, collection);
    const scanned = await scanCollection(services, RUN, collection);
    const { points: all, users, usersDigest } = scanned.contents;
    expect(counted.contents).toMatchObject({ points: all, users, usersDigest });
    expect([...counted.counts.listCounts()]).toEqual([...scanned.counts.listCounts()]);
  });
});
