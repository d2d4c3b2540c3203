// Service document, "description and notes: free text", and the rulings on their limits.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenTransaction, keptTransaction, LUNCH } from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

const KEPT = [
  ['with white space around it', '  Lunch  '],
  ['with NUL characters', 'a\u0000b'],
  ['with quotes and markup', `<b>"it's"</b>\\`],
  ['in other scripts', 'משכורת 給料 зарплата'],
  ['with composed emoji', '👩‍👩‍👧‍👦'],
  ['with a decomposed accent', 'cafe\u0301'],
  ['like a path into a prototype', '__proto__'],
];

describe.each(['description', 'notes'])('%s: text comes back as sent', (field) => {
  test.each(KEPT)('%s', async (_, text) => {
    expect((await keptTransaction(api, { [field]: text }))[field]).toBe(text);
  });
});

describe.each([
  ['description', 1_000],
  ['notes', 5_000],
])('%s: at most %i characters, counted as code points', (field, limit) => {
  test.each(['x', 'é', '給', '🏠'])('as many of %s are kept', async (character) => {
    const text = character.repeat(limit);
    expect((await keptTransaction(api, { [field]: text }))[field]).toBe(text);
  });

  test.each(['x', 'é', '給', '🏠'])('one more of %s is refused', async (character) => {
    const text = character.repeat(limit + 1);
    expectFaults(await api.post('/transactions', { ...LUNCH, [field]: text }), [field]);
  });

  test.each([
    ['a high one', 'a\ud83d'],
    ['a low one', '\udc00b'],
    ['two in the wrong order', '\udc00\ud83d'],
  ])('a lone surrogate has no UTF-8 form and is refused: %s', async (_, text) => {
    expectFaults(await api.post('/transactions', { ...LUNCH, [field]: text }), [field]);
  });

  test.each([5, true, ['text'], { text: 'x' }])('%j is no text', async (value) => {
    expectFaults(await api.post('/transactions', { ...LUNCH, [field]: value }), [field]);
    const { id } = await givenTransaction(api);
    expectFaults(await api.put(`/transactions/${id}`, { [field]: value }), [field]);
  });
});

describe('description: not blank', () => {
  test.each(['', ' ', '\t\n', '\u00a0', '\u3000'])('%j is refused', async (description) => {
    expectFaults(await api.post('/transactions', { ...LUNCH, description }), ['description']);
    const { id } = await givenTransaction(api);
    expectFaults(await api.put(`/transactions/${id}`, { description }), ['description']);
  });
});

describe('notes: text or null', () => {
  test.each(['', ' ', null])('%j is kept', async (notes) => {
    expect((await keptTransaction(api, { notes })).notes).toBe(notes);
  });

  test('null on update clears them', async () => {
    const { id } = await givenTransaction(api, { notes: 'with Ann' });
    expect((await api.put(`/transactions/${id}`, { notes: null })).body.data.notes).toBeNull();
    expect((await api.get(`/transactions/${id}`)).body.data.notes).toBeNull();
  });
});
