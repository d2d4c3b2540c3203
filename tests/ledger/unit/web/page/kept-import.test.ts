// After a reload the page shows the result of an import again, or says that the import was interrupted.
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ImportResult } from '../../../../../web/page/import-state.ts';

const stored = new Map<string, string>();
const storage = {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, text: string) => void stored.set(name, text),
  removeItem: (name: string) => void stored.delete(name),
};
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);

const { currentImport } = await import('../../../../../web/page/import-state.ts');
const { flushDrafts } = await import('../../../../../web/page/kept-drafts.ts');
const { reopenImport, watchImport } = await import('../../../../../web/page/kept-import.ts');
const { outbox } = await import('../../../../../web/page/ledger.ts');

const DONE = {
  stage: 'done' as const,
  ...{ name: 'bank.csv', importId: 'bank.csv', created: 2, changed: 0 },
  ...{ present: 0, uncategorised: 0, leftOut: 0, refused: ['Line 3: no amount'] },
  period: '2026-10',
} satisfies ImportResult;

watchImport();

/** Reloads the page with this ledger. @returns the import that it then shows */
function reload(ledger: string): typeof currentImport.value {
  flushDrafts();
  const kept = new Map(stored);
  currentImport.value = undefined;
  for (const [name, text] of kept) stored.set(name, text);
  void outbox.open(ledger, { canWrite: false });
  reopenImport();
  return currentImport.peek();
}

beforeEach(() => {
  void outbox.open('home', { canWrite: false });
});
afterEach(() => {
  currentImport.value = undefined;
  stored.clear();
});
afterAll(() => {
  // Other test files share the modules of the page.
  outbox.close();
  vi.unstubAllGlobals();
});

test('the result of an import is shown again, in its own ledger, until it is closed', () => {
  currentImport.value = DONE;
  expect(reload('another')).toBeUndefined();
  expect(reload('home')).toEqual(DONE);
  currentImport.value = undefined;
  expect([reload('home'), stored.get('import home ')]).toEqual([undefined, undefined]);
});

test.each([
  ['sending', /Choose the file again/],
  ['undoing', /Undo it again/],
] as const)('an import that was interrupted while %s says how to continue', (stage, problem) => {
  currentImport.value = { stage, name: 'bank.csv', done: 1, total: 2 };
  expect(reload('home')).toMatchObject({
    ...{ stage: 'preview', name: 'bank.csv', reading: undefined },
    problem: expect.stringMatching(problem),
  });
});
