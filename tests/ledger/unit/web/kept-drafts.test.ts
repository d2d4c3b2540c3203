// The page stores drafts after the frame of the key press, and at the latest before the page is left.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  dropDraft,
  flushDrafts,
  keepDraft,
  nameInLedger,
  readDraft,
  readDrafts,
} from '../../../../web/page/kept-drafts.ts';

describe('a kept draft', () => {
  const storageItems = new Map<string, string>();

  beforeEach(() => {
    vi.stubGlobal('sessionStorage', {
      get length() {
        return storageItems.size;
      },
      key: (n: number) => [...storageItems.keys()][n] ?? null,
      getItem: (name: string) => storageItems.get(name) ?? null,
      setItem: (name: string, text: string) => storageItems.set(name, text),
      removeItem: (name: string) => storageItems.delete(name),
    });
    // Test files share their modules: an earlier one may have left a draft that waits for a real timer.
    flushDrafts();
    storageItems.clear();
    vi.useFakeTimers();
  });
  afterEach(() => {
    dropDraft('draft');
    flushDrafts();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('is written once for several key presses, after their frame', () => {
    const write = vi.spyOn(sessionStorage, 'setItem');
    for (const description of ['L', 'Lu', 'Lun']) keepDraft('draft', { description });
    expect(write).not.toHaveBeenCalled();
    expect(readDraft('draft')).toEqual({ description: 'Lun' });
    vi.runAllTimers();
    expect(write).toHaveBeenCalledExactlyOnceWith('draft', '{"description":"Lun"}');
    expect(readDraft('draft')).toEqual({ description: 'Lun' });
  });

  test('is written at once when the page is left', () => {
    keepDraft('draft', { description: 'Half' });
    flushDrafts();
    expect(storageItems.get('draft')).toBe('{"description":"Half"}');
  });

  test('is not read again once it is dropped', () => {
    keepDraft('draft', { description: 'Saved' });
    dropDraft('draft');
    vi.runAllTimers();
    expect([...storageItems]).toEqual([]);
    expect(readDraft('draft')).toBeUndefined();
  });

  test('is dropped even if the browser denies access to its storage', () => {
    vi.spyOn(sessionStorage, 'removeItem').mockImplementation(() => {
      throw new Error('denied');
    });
    keepDraft('draft', { description: 'Saved' });
    dropDraft('draft');
    expect(readDraft('draft')).toBeUndefined();
  });

  test('stays readable, and is written later, if the storage is full', () => {
    storageItems.set('draft', '{"description":"Old"}');
    vi.spyOn(sessionStorage, 'setItem').mockImplementationOnce(() => {
      throw new Error('full');
    });
    keepDraft('draft', { description: 'New' });
    flushDrafts();
    expect(readDraft('draft')).toEqual({ description: 'New' });
    flushDrafts();
    expect(storageItems.get('draft')).toBe('{"description":"New"}');
  });

  test('is found by its prefix, together with the other drafts, whether or not it was written', () => {
    storageItems.set('edit-1', '{"n":1}');
    storageItems.set('edit-2', '{"n":2');
    storageItems.set('other', '{"n":3}');
    keepDraft('edit-4', { n: 4 });
    expect([...readDrafts('edit-')]).toEqual([
      ['edit-1', { n: 1 }],
      ['edit-4', { n: 4 }],
    ]);
    dropDraft('edit-4');
  });

  test('is found only in its own ledger', () => {
    keepDraft(`${nameInLedger('edit', 'home')}1`, { n: 1 });
    flushDrafts();
    for (const ledger of ['work', 'hom', 'home 1', 'home%201', undefined])
      expect([...readDrafts(nameInLedger('edit', ledger))]).toEqual([]);
    expect([...readDrafts(nameInLedger('edit', 'home')).values()]).toEqual([{ n: 1 }]);
  });

  test('is ignored if it cannot be read', () => {
    storageItems.set('draft', '{"descr');
    expect(readDraft('draft')).toBeUndefined();
  });
});
