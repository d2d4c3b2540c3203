// Service document, "Endpoints: Categories": create, read, update, and Rules 2 to 5.
import { describe, expect, test } from 'vitest';
import { expectConflict, expectNotFound } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  UNKNOWN_ID,
  uniqueName,
} from '../../support/api/records.ts';

const api = await openApi();

describe('Categories: success responses', () => {
  test('POST: 201 with success, data and message', async () => {
    const sent = { name: uniqueName(), description: 'd', color: '#abc', is_active: true };
    const { status, body } = await api.post('/categories', sent);
    const message = 'Category created successfully';
    const data = expect.objectContaining(sent);
    expect([status, body]).toEqual([201, { success: true, data, message }]);
  });

  test('GET: 200 with success and data, and no message', async () => {
    const created = await givenCategory(api);
    await givenTransaction(api, { category_id: created.id });
    const { status, body } = await api.get(`/categories/${created.id}`);
    const data = { ...created, transaction_count: 1 };
    expect([status, body]).toEqual([200, { success: true, data }]);
  });

  test('PUT: 200 with success, data and message', async () => {
    const { updated_at: _, ...rest } = await givenCategory(api);
    const { status, body } = await api.put(`/categories/${rest.id}`, { color: '#abc' });
    const data = expect.objectContaining({ ...rest, color: '#abc' });
    const message = 'Category updated successfully';
    expect([status, body]).toEqual([200, { success: true, data, message }]);
  });

  test.each([{ description: 'new' }, { description: null }, { color: '#000' }, { color: null }])(
    'PUT changes only the fields sent: %j',
    async (change) => {
      const before = await givenCategory(api, { description: 'old', color: '#fff' });
      const { data } = (await api.put(`/categories/${before.id}`, change)).body;
      expect(data).toEqual({ ...before, ...change, updated_at: data.updated_at });
      const read = (await api.get(`/categories/${before.id}`)).body.data;
      expect(read).toEqual({ ...data, transaction_count: 0 });
    },
  );
});

const exists = (name: string) => `Category with name '${name}' already exists`;

describe('Rule 2: on create, an existing name is 409', () => {
  test('the message names the clashing name', async () => {
    const { name } = await givenCategory(api);
    expectConflict(await api.post('/categories', { name }), exists(name));
  });

  test('after trimming', async () => {
    const { name } = await givenCategory(api);
    expectConflict(await api.post('/categories', { name: `  ${name} ` }), exists(name));
  });

  test('an inactive category keeps its name', async () => {
    const { id, name } = await givenCategory(api);
    await api.delete(`/categories/${id}`);
    expectConflict(await api.post('/categories', { name }), exists(name));
  });

  test.each([
    ['case', (name: string) => name.toUpperCase()],
    ['inner white space', (name: string) => name.replace(' ', '  ')],
    ['a composed accent', (name: string) => `${name} caf\u00e9`],
    ['a decomposed accent', (name: string) => `${name} cafe\u0301`],
  ])('names differ byte for byte: %s', async (_, another) => {
    const { name } = await givenCategory(api, { name: `${uniqueName()} a` });
    expect(await givenCategory(api, { name: another(name) })).toMatchObject({
      name: another(name),
    });
  });
});

describe('Rule 3: on update, the name is checked when it is sent and differs', () => {
  test('a clash is 409, and nothing of the update is applied', async () => {
    const [one, other] = [await givenCategory(api), await givenCategory(api)];
    const path = `/categories/${one.id}`;
    expectConflict(await api.put(path, { name: other.name, color: '#abc' }), exists(other.name));
    expect((await api.get(path)).body.data).toEqual({ ...one, transaction_count: 0 });
  });

  test('a clash with an inactive one is 409, too', async () => {
    const [one, other] = [await givenCategory(api), await givenCategory(api)];
    await api.delete(`/categories/${other.id}`);
    const reply = await api.put(`/categories/${one.id}`, { name: other.name });
    expectConflict(reply, exists(other.name));
  });

  test.each(['', ' '])('its own name is no clash, with %j around it', async (around) => {
    const { id, name } = await givenCategory(api);
    const { status, body } = await api.put(`/categories/${id}`, { name: around + name + around });
    expect([status, body.data.name]).toEqual([200, name]);
  });

  test('a renamed name is free at once, and the new one is taken at once', async () => {
    const { id, name } = await givenCategory(api);
    const renamed = uniqueName('Renamed');
    await api.put(`/categories/${id}`, { name: renamed });
    expectConflict(await api.post('/categories', { name: renamed }), exists(renamed));
    expect((await api.post('/categories', { name })).status).toBe(201);
  });
});

describe('Rule 5: on update, the lookup is done before the body is read', () => {
  test.each([undefined, '', '{', '{"name":5}', '{"name":"x"}'])(
    'an unknown id is 404, whatever the body: %j',
    async (rawBody) => {
      const request = rawBody === undefined ? {} : { rawBody };
      expectNotFound(
        await api.request('PUT', `/categories/${UNKNOWN_ID}`, request),
        `Category with id ${UNKNOWN_ID} not found`,
      );
    },
  );
});
