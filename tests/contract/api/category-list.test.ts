// Service document, "Categories: GET /", Rule 1, and the ruling on its order.
import { beforeAll, describe, expect, test } from 'vitest';
import { expectFilterFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

const api = await openApi();

let active: WireRecord;
let inactive: WireRecord;

beforeAll(async () => {
  active = await givenCategory(api);
  inactive = await givenCategory(api);
  for (const { id } of [active, inactive, inactive])
    await givenTransaction(api, { category_id: id });
  inactive = (await api.put(`/categories/${inactive.id}`, { is_active: false })).body.data;
});

async function list(query?: string) {
  const { status, body } = await api.get('/categories', query);
  const find = ({ id }: WireRecord) => {
    const { etag: _, ...found } = body.data.find((each: WireRecord) => each.id === id) ?? {};
    return found.id === undefined ? undefined : found;
  };
  return { status, body, active: find(active), inactive: find(inactive) };
}

describe('Category list: the response', () => {
  test('200 with success, data and count, and nothing else', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['count', 'data', 'success']);
    expect(body).toMatchObject({ success: true, count: body.data.length });
  });

  test('count is the number of items in data, also with inactive ones', async () => {
    const [some, all] = [await list(), await list('active_only=false')];
    expect([some.body.count, all.body.count]).toEqual([
      some.body.data.length,
      all.body.data.length,
    ]);
    expect(Number(all.body.count)).toBeGreaterThan(Number(some.body.count));
  });

  test('defaults: active ones only, without counts', async () => {
    const listed = await list();
    expect([listed.active, listed.inactive]).toEqual([active, undefined]);
  });

  test('with counts', async () => {
    const listed = await list('include_counts=true&active_only=false');
    expect(listed.active).toEqual({ ...active, transaction_count: 1 });
    expect(listed.inactive).toEqual({ ...inactive, transaction_count: 2 });
  });
});

describe('Rule 1: a boolean parameter is true only when it equals "true" in any case', () => {
  test.each([
    ['tRuE', true],
    ['1', false],
  ])('%j', async (value, isTrue) => {
    const listed = await list(`active_only=${value}&include_counts=${value}`);
    expect([listed.active, listed.inactive]).toEqual(
      isTrue ? [{ ...active, transaction_count: 1 }, undefined] : [active, inactive],
    );
  });

  test('false without a value', async () => {
    expect((await list('active_only')).inactive).toEqual(inactive);
  });

  test('a repeated one is an error that names it', async () => {
    const reply = await api.get('/categories', 'active_only=true&active_only=true');
    expectFilterFaults(reply, ['active_only']);
  });

  test('an unknown parameter is an error that names it', async () => {
    expectFilterFaults(await api.get('/categories', 'Active_only=false'), ['Active_only']);
  });
});

describe('Rulings: ordered by name, then id', () => {
  test('in the order of the bytes of the names', async () => {
    const prefix = uniqueName();
    const suffixes = ['a', 'B', 'é', 'b', '🏠', '10', '9', '\uffee', 'aa'];
    for (const suffix of suffixes) await givenCategory(api, { name: `${prefix} ${suffix}` });
    const { body } = await list();
    const names = body.data.map(({ name }: WireRecord) => name);
    expect(names.filter((name: string) => name.startsWith(prefix))).toEqual(
      ['10', '9', 'B', 'a', 'aa', 'b', 'é', '\uffee', '🏠'].map((suffix) => `${prefix} ${suffix}`),
    );
  });

  test('a rename moves it at once', async () => {
    const { id, name } = await givenCategory(api);
    await api.put(`/categories/${id}`, { name: `\u0001${name}` });
    expect((await list()).body.data[0]).toMatchObject({ id });
    await api.put(`/categories/${id}`, { name: `\u{10ffff}${name}` });
    expect((await list()).body.data.at(-1)).toMatchObject({ id });
  });
});
