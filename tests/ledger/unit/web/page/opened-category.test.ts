// Text typed in the settings of a category survives a reload, until it is saved or discarded. Only the service is a stand-in.
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Category } from '../../../../../lib/ledger/http/api-types.ts';

const storageItems = new Map<string, string>();
const storage = {
  getItem: (name: string) => storageItems.get(name) ?? null,
  setItem: (name: string, text: string) => void storageItems.set(name, text),
  removeItem: (name: string) => void storageItems.delete(name),
};
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);
vi.stubGlobal('fetch', respond);
vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

const { categories, forgetWrittenCategories, showCategories } = await import(
  '../../../../../web/page/category-list.ts'
);
const { flushDrafts } = await import('../../../../../web/page/kept-drafts.ts');
const { me } = await import('../../../../../web/page/ledger.ts');
const { closeOpened, discardOpened, findOpened, openCategory, reopenCategory } = await import(
  '../../../../../web/page/opened-category.ts'
);

const sentChanges: object[] = [];
/** Message with which the service refuses the next change */
let refusal = '';

async function respond(_: string, { body }: RequestInit): Promise<Response> {
  const changes = JSON.parse(String(body));
  sentChanges.push(changes);
  if (refusal !== '') return Response.json({ message: refusal }, { status: 409 });
  return Response.json({ data: { ...findCategory(), ...changes, etag: '"c1.9.0"' } });
}

function findCategory(): Category {
  const [category] = categories.peek();
  if (!category) throw new Error('the list of categories is empty');
  return category;
}

function openLedger(ledger: string): void {
  me.value = { ledger, scope: 'write', kind: 'anonymous' };
}

/** Opens the settings and types a name. */
function typeName(name: string): void {
  openCategory(findCategory());
  const settings = findOpened(1);
  if (settings) settings.name.value = name;
}

/** Reopens the settings, as the page does after a reload. @returns false if there were none */
function reload(): boolean {
  flushDrafts();
  return reopenCategory();
}

const readShownName = () => findOpened(1)?.name.peek();

beforeEach(() => {
  sentChanges.length = 0;
  refusal = '';
  forgetWrittenCategories();
  const times = { created_at: '', updated_at: '', etag: '"c1.1.0"' };
  const fields = { name: 'Food', description: null, color: '#112233', is_active: true };
  showCategories([{ id: 1, ...fields, ...times }]);
  openLedger('home');
});
afterEach(() => {
  discardOpened();
  vi.clearAllTimers();
  storageItems.clear();
});
afterAll(() => {
  // Other test files share the modules of the page.
  forgetWrittenCategories();
  me.value = undefined;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the unsaved settings of a category', () => {
  test('are open again after a reload, which sends only what was typed', async () => {
    typeName('Meals');
    expect(reload()).toBe(true);
    expect(readShownName()).toBe('Meals');
    expect(await closeOpened()).toBeUndefined();
    expect(sentChanges).toEqual([{ name: 'Meals' }]);
    expect(findOpened(1)).toBeUndefined();
  });

  test('survive a reload even if the service refused them', async () => {
    typeName('Taken');
    refusal = 'The name is taken.';
    expect((await closeOpened())?.settings.error.peek()).toContain('The name is taken.');
    expect(reload()).toBe(true);
    expect(readShownName()).toBe('Taken');
  });

  test('survive a second reload as they were after the first', () => {
    typeName('Meals');
    reload();
    const settings = findOpened(1);
    if (settings) settings.target.value = '20';
    reload();
    expect([readShownName(), findOpened(1)?.target.peek()]).toEqual(['Meals', '20']);
  });

  test('stay closed after a reload if they were saved, discarded, or changed back', async () => {
    typeName('Meals');
    await findOpened(1)?.save();
    expect(reload()).toBe(false);
    typeName('Groceries');
    discardOpened();
    expect(reload()).toBe(false);
    typeName('Groceries');
    typeName(findCategory().name);
    expect(reload()).toBe(false);
  });

  test('are not opened in another ledger, or if their category is missing', () => {
    typeName('Meals');
    openLedger('office');
    expect(reload()).toBe(false);
    typeName('Journeys');
    openLedger('home');
    expect([reload(), readShownName()]).toEqual([true, 'Meals']);
    showCategories([]);
    expect(reload()).toBe(false);
  });
});
