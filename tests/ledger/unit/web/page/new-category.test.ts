// The typed name of a new category is neither lost by a reload nor kept once the category is created. Only the service is a
// stand-in.
import { afterAll, beforeEach, expect, test, vi } from 'vitest';

const stored = new Map<string, string>();
const storage = {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, text: string) => void stored.set(name, text),
  removeItem: (name: string) => void stored.delete(name),
};
let respond: (name: string) => Promise<Response>;
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);
vi.stubGlobal('fetch', (_: string, { body }: RequestInit) =>
  respond(JSON.parse(String(body)).name),
);

const { forgetWrittenCategories, showCategories } = await import(
  '../../../../../web/page/category-list.ts'
);
const { flushDrafts } = await import('../../../../../web/page/kept-drafts.ts');
const { me } = await import('../../../../../web/page/ledger.ts');
const { createNewCategory, keepNewName, readNewName } = await import(
  '../../../../../web/page/new-category.ts'
);

const accept = async (name: string) =>
  Response.json({ data: { id: 5, name, is_active: true, etag: '"c5.1.0"' } });

function openLedger(ledger: string): void {
  me.value = { ledger, scope: 'write', kind: 'anonymous' };
}

/** Names of new categories in the storage of the tab */
function listStored(): readonly string[] {
  flushDrafts();
  return [...stored]
    .filter(([name]) => name.startsWith('new-category'))
    .map(([, text]) => JSON.parse(text).name);
}

beforeEach(() => {
  stored.clear();
  openLedger(crypto.randomUUID());
  respond = accept;
});
afterAll(() => {
  // Other test files share the modules of the page.
  flushDrafts();
  forgetWrittenCategories();
  showCategories([]);
  me.value = undefined;
  vi.unstubAllGlobals();
});

test('a typed name survives a reload in its ledger, until the category is created', async () => {
  keepNewName(' Canteen ');
  expect(listStored()).toEqual([' Canteen ']);
  openLedger('another');
  expect(readNewName()).toBe('');
  keepNewName('Office');
  await createNewCategory();
  expect([readNewName(), listStored()]).toEqual(['', [' Canteen ']]);
});

test('a refused name is kept', async () => {
  respond = async () => Response.json({ message: 'Taken' }, { status: 409 });
  keepNewName('Canteen');
  await expect(createNewCategory()).rejects.toThrow('Taken');
  expect(listStored()).toEqual(['Canteen']);
});

test('a name that is typed while another category is created is kept', async () => {
  respond = async (name) => {
    keepNewName('Next');
    return await accept(name);
  };
  keepNewName('Canteen');
  await createNewCategory();
  expect(readNewName()).toBe('Next');
});

test('a blank name creates nothing', async () => {
  respond = async () => {
    throw new Error('sent');
  };
  keepNewName('  ');
  await createNewCategory();
});
