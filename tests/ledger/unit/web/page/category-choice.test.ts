// A typed name finds the category with exactly this name, even if others differ only in case, accents or vowel signs.
import { afterAll, expect, test, vi } from 'vitest';

const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);
vi.stubGlobal('fetch', async (_: string, { body }: RequestInit) =>
  Response.json({
    data: { id: 9, ...JSON.parse(String(body)), is_active: true, etag: '"c9.1.0"' },
  }),
);

const { forgetWrittenCategories, showCategories } = await import(
  '../../../../../web/page/category-list.ts'
);
const { resolveCategory } = await import('../../../../../web/page/category-choice.ts');

afterAll(() => {
  // Other test files share the modules of the page.
  forgetWrittenCategories();
  showCategories([]);
  vi.unstubAllGlobals();
});

// The last two are "bill" and "hair" in Hindi.
test.each([
  ['Cafe', 'Cafe'],
  ['Café', 'Café'],
  ['café', 'Café'],
  ['CAFÈ', 'Cafe'],
  ['बिल', 'बिल'],
  ['बाल', 'बाल'],
])('%s finds %s', async (typed, expected) => {
  forgetWrittenCategories();
  const fields = { description: null, color: null, is_active: true };
  const times = { created_at: '', updated_at: '' };
  showCategories(
    ['Cafe', 'Café', 'बिल'].map((name, n) => ({
      ...{ id: n + 1, name, etag: `"c${n + 1}.1.0"` },
      ...fields,
      ...times,
    })),
  );
  expect((await resolveCategory(typed))?.name).toBe(expected);
});
