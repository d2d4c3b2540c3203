// Counts by user are the same whether they come from the index of users or from a walk.
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
  ])('counts by user and those of a walk are equal %s', async (_, hasIndex, payloads) => {
    const collection = await subject.collection();
    if (hasIndex) {
      const index = { field_name: 'user_id', field_schema: 'keyword' } as const;
      await subject.store.createPayloadIndex(collection, index);
    }
    const points = payloads.map((payload, n) => createPoint(n + 1, payload));
    await subject.store.upsert(collection, points, 'upsert');
    const services = { vectors: subject.store, clock: () => new Date() };
    const counted = await countUsers(services, RUN, collection);
    const walked = await scanCollection(services, RUN, collection);
    const { points: all, users, usersDigest } = walked.contents;
    expect(counted.contents).toMatchObject({ points: all, users, usersDigest });
    expect([...counted.counts.listCounts()]).toEqual([...walked.counts.listCounts()]);
  });
});
