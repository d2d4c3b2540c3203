// The page works, and asks for a key, even if the browser denies access to its storage.
import { afterAll, expect, test } from 'vitest';
import {
  flushDrafts,
  keepDraft,
  readDraft,
  readDrafts,
} from '../../../../../web/page/kept-drafts.ts';
import { deviceStorage, tabStorage } from '../../../../../web/page/storage.ts';

const { localStorage: device, sessionStorage: tab } = globalThis;
for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get: () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError');
    },
  });
afterAll(() => {
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value: device });
  Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, value: tab });
});

test('denied storage reads as empty, and the page still keeps drafts', () => {
  for (const storage of [deviceStorage, tabStorage]) {
    expect(storage.setItem('a', 'b')).toBe(false);
    storage.removeItem('a');
    expect([storage.getItem('a'), storage.listNames()]).toEqual([null, []]);
  }
  keepDraft('draft 1', { n: 1 });
  flushDrafts();
  expect([readDraft('draft 1'), readDrafts('draft').size]).toEqual([{ n: 1 }, 1]);
});

test('a key is used even if it cannot be stored', async () => {
  const { storedKey } = await import('../../../../../web/page/client.ts');
  storedKey.write('fl_right', { isOnDevice: true });
  expect([storedKey.read(), storedKey.isReplaced()]).toEqual(['fl_right', false]);
  // Other test files share the modules of the page.
  storedKey.write('', { isOnDevice: false });
});
