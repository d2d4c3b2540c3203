// Service document, "Resources and their fields: Category", and the rulings on its fields.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  keptCategory,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

const FIELDS = ['color', 'created_at', 'description', 'id', 'is_active', 'name', 'updated_at'];
const COUNTED = [...FIELDS, 'transaction_count'].toSorted();

const fieldsOf = (record: WireRecord) => Object.keys(record).toSorted();

describe('Category: the fields of every response', () => {
  test('transaction_count is present on a single read, and not on create or update', async () => {
    const created = await givenCategory(api);
    const path = `/categories/${created.id}`;
    const updated = (await api.put(path, { color: '#123' })).body.data;
    const read = (await api.get(path)).body.data;
    expect([created, updated].map(fieldsOf)).toEqual([FIELDS, FIELDS]);
    expect(fieldsOf(read)).toEqual(COUNTED);
  });

  test('transaction_count is present on lists requested with counts, and on no others', async () => {
    await givenCategory(api);
    const bare = (await api.get('/categories')).body.data;
    const counted = (await api.get('/categories', { include_counts: true })).body.data;
    for (const { etag: _, ...each } of bare) expect(fieldsOf(each)).toEqual(FIELDS);
    for (const { etag: _, ...each } of counted) expect(fieldsOf(each)).toEqual(COUNTED);
    expect(counted).toHaveLength(bare.length);
  });

  test('what is not sent has its default: null, and is_active true', async () => {
    expect(await keptCategory(api, {})).toMatchObject({
      description: null,
      color: null,
      is_active: true,
    });
  });

  test('created_at and updated_at are assigned, and every write moves updated_at', async () => {
    const before = await givenCategory(api);
    expect(before.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(before.updated_at).toBe(before.created_at);
    const after = (await api.put(`/categories/${before.id}`, { color: null })).body.data;
    expect(after.created_at).toBe(before.created_at);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  });

  test('id is an assigned integer, and grows', async () => {
    const [first, second] = [await givenCategory(api), await givenCategory(api)];
    expect(Number.isInteger(first.id)).toBe(true);
    expect(second.id).toBeGreaterThan(first.id);
  });
});

describe('name', () => {
  test('is required', async () => {
    expectFaults(await api.post('/categories', { color: '#fff' }), ['name']);
  });

  test('is trimmed', async () => {
    const name = uniqueName();
    expect(await keptCategory(api, { name: ` \t${name}\u00a0\n` })).toMatchObject({ name });
  });

  test.each(['x', '給', '🏠'])('at most 255 characters, counted as code points: %s', async (c) => {
    const name = uniqueName().slice(-36);
    const longest = name + c.repeat(255 - name.length);
    const { id } = await givenCategory(api, { name: ` ${longest} ` });
    expect((await api.get(`/categories/${id}`)).body.data.name).toBe(longest);
    expectFaults(await api.post('/categories', { name: longest + c }), ['name']);
    expectFaults(await api.put(`/categories/${id}`, { name: longest + c }), ['name']);
  });

  test.each(['', ' ', '\n\t', '\u3000', null, 5, true, ['x'], {}, '\ud800'])(
    '%j is refused on create and on update',
    async (name) => {
      expectFaults(await api.post('/categories', { name }), ['name']);
      const { id } = await givenCategory(api);
      expectFaults(await api.put(`/categories/${id}`, { name }), ['name']);
    },
  );

  test.each(['NUL\u0000inside', "it's", '#hash#', '__proto__', 'constructor', '%25', '~'])(
    '%j is a name like any other',
    async (word) => {
      const name = `${uniqueName()} ${word}`;
      const { id } = await givenCategory(api, { name });
      expect((await api.get(`/categories/${id}`)).body.data.name).toBe(name);
      expect((await api.post('/categories', { name })).status).toBe(409);
    },
  );
});

const TEXTS = [
  ['empty', ''],
  ['blank', ' '],
  ['none', null],
  ['1,000 letters', 'x'.repeat(1_000)],
  ['1,000 emoji', '🏠'.repeat(1_000)],
] as const;

const NO_TEXTS = [
  ['1,001 letters', 'x'.repeat(1_001)],
  ['1,001 emoji', '🏠'.repeat(1_001)],
  ['a number', 5],
  ['a boolean', false],
  ['a list', []],
  ['a lone surrogate', '\udfff'],
] as const;

describe('description', () => {
  test.each(TEXTS)('%s is kept', async (_, description) => {
    expect((await keptCategory(api, { description })).description).toBe(description);
  });

  test.each(NO_TEXTS)('%s is refused', async (_, description) => {
    const name = uniqueName();
    expectFaults(await api.post('/categories', { name, description }), ['description']);
    const { id } = await givenCategory(api);
    expectFaults(await api.put(`/categories/${id}`, { description }), ['description']);
  });
});

describe('color', () => {
  test.each(['#fff', '#FfF', '#abcd', '#1A2b3C', '#11223344', null])(
    '%j is kept as sent',
    async (color) => {
      expect((await keptCategory(api, { color })).color).toBe(color);
    },
  );

  test.each(['', 'fff', '#', '#ff', '#fffff', '#fffffff', '#ggg', '#fff ', '#fff\n', 'red', 5, []])(
    '%j is refused',
    async (color) => {
      expectFaults(await api.post('/categories', { name: uniqueName(), color }), ['color']);
      const { id } = await givenCategory(api);
      expectFaults(await api.put(`/categories/${id}`, { color }), ['color']);
    },
  );
});

describe('is_active', () => {
  test.each([true, false])('%j is kept', async (is_active) => {
    expect(await keptCategory(api, { is_active })).toMatchObject({ is_active });
  });

  test.each(['true', 'false', 1, 0, null, ''])('%j is no boolean', async (is_active) => {
    expectFaults(await api.post('/categories', { name: uniqueName(), is_active }), ['is_active']);
    const { id } = await givenCategory(api);
    expectFaults(await api.put(`/categories/${id}`, { is_active }), ['is_active']);
  });
});

test('every bad field is named at once', async () => {
  const body = { name: '', description: 5, color: 'red', is_active: 'yes' };
  expectFaults(await api.post('/categories', body), Object.keys(body));
});
