// A transaction whose new category is still being created, or was refused, is neither lost nor added twice. Only the service is a
// stand-in.
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Draft } from '../../../../../web/page/transaction-form.tsx';

const storageItems = new Map<string, string>();
const storage = {
  get length() {
    return storageItems.size;
  },
  key: (n: number) => [...storageItems.keys()][n] ?? null,
  getItem: (name: string) => storageItems.get(name) ?? null,
  setItem: (name: string, text: string) => void storageItems.set(name, text),
  removeItem: (name: string) => void storageItems.delete(name),
};
let respond: () => Promise<Response>;
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);
vi.stubGlobal('fetch', () => respond());

const { forgetWrittenCategories, showCategories } = await import(
  '../../../../../web/page/category-list.ts'
);
const { flushDrafts } = await import('../../../../../web/page/kept-drafts.ts');
const { me, notice, outbox } = await import('../../../../../web/page/ledger.ts');
const { addTransaction, takeUnadded } = await import('../../../../../web/page/unadded.ts');

const DRAFT: Draft = {
  ...{ date: '2026-10-25', description: 'Lunch', amount: '12.50' },
  ...{ category: 'Canteen', notes: '' },
  type: 'expense',
};

function openLedger(ledger: string): void {
  me.value = { ledger, scope: 'write', kind: 'anonymous' };
  outbox.open(ledger, { canWrite: false });
}

/** Drafts as the next page would find them in the storage of the tab */
function listStored(): readonly object[] {
  flushDrafts();
  return [...storageItems]
    .filter(([name]) => name.startsWith('unadded'))
    .map(([, text]) => JSON.parse(text).draft);
}

const listQueued = () => outbox.waiting.peek().flatMap(({ changes }) => changes);

beforeEach(() => {
  storageItems.clear();
  showCategories([]);
  openLedger(crypto.randomUUID());
});
afterEach(() => {
  forgetWrittenCategories();
  notice.value = undefined;
});
afterAll(() => {
  // Other test files share the modules of the page.
  outbox.close();
  showCategories([]);
  me.value = undefined;
  vi.unstubAllGlobals();
});

describe('a transaction with a new category', () => {
  test('survives a reload until the category is created, and is then only queued', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    respond = () => promise;
    const adding = addTransaction(DRAFT);
    expect(listStored()).toEqual([DRAFT]);
    // The form does not take back a transaction that is still being added.
    expect([takeUnadded(), listQueued().length]).toEqual([undefined, 0]);
    resolve(Response.json({ data: { id: 5, name: 'Canteen', is_active: true, etag: '"c5.1.0"' } }));
    expect(await adding).toBe(true);
    expect(listStored()).toEqual([]);
    expect(listQueued()).toEqual([
      { after: expect.objectContaining({ category_id: 5, amount: 12.5 }) },
    ]);
  });

  test('returns once to the form of its ledger if the category is refused', async () => {
    respond = async () => Response.json({ message: 'Too many' }, { status: 422 });
    const { ledger = '' } = me.peek() ?? {};
    expect(await addTransaction(DRAFT)).toBe(false);
    expect(notice.peek()?.text).toMatch(/^“Lunch” was not added.*Too many/);
    openLedger('another');
    expect(takeUnadded()).toBeUndefined();
    openLedger(ledger);
    expect([takeUnadded(), takeUnadded(), listQueued().length]).toEqual([DRAFT, undefined, 0]);
  });
});
