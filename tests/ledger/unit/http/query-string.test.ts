// Parameters are read as they were sent: values that the gateway joined are separated again.
import { expect, test } from 'vitest';
import { type Query, readQuery } from '../../../../lib/ledger/http/query-string.ts';

test.each<[string, Record<string, string> | undefined, Query]>([
  ['', undefined, {}],
  ['deep', { deep: '' }, { deep: '' }],
  ['q=a,b', { q: 'a,b' }, { q: 'a,b' }],
  ['q=a&q=b&page=1', { q: 'a,b', page: '1' }, { q: ['a', 'b'], page: '1' }],
  ['q=a&%71=%F0%9F%8F%A0+b', { q: 'a,🏠 b' }, { q: ['a', '🏠 b'] }],
  ['q&q=', { q: ',' }, { q: ['', ''] }],
])('the query string "%s" is read', (rawQueryString, queryStringParameters = {}, query) => {
  expect(readQuery({ rawQueryString, queryStringParameters })).toEqual(query);
});

test('a missing query string has no parameters', () => {
  expect(readQuery({})).toEqual({});
});
