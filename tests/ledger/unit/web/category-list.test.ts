// The categories that the page shows: an outdated list that arrives after a write does not undo the write.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Category } from '../../../../lib/ledger/http/api-types.ts';
import {
  categories,
  forgetWrittenCategories,
  keepCategory,
  showCategories,
} from '../../../../web/page/category-list.ts';
import { LAG_MS } from '../../../../web/page/write-queue.ts';

function createCategory(id: number, name: string, version: number, count?: number): Category {
  return {
    ...{ id, name, description: null, color: null, is_active: true },
    ...{ created_at: '', updated_at: '', etag: `"c${id}.${version}.0"` },
    ...(count !== undefined && { transaction_count: count }),
  };
}

const listShown = () => categories.value.map(({ name, transaction_count: count }) => [name, count]);

describe('a list of categories', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    showCategories([createCategory(1, 'Food', 1, 5), createCategory(2, 'Home', 1, 3)]);
  });
  afterEach(() => {
    forgetWrittenCategories();
    vi.useRealTimers();
  });

  test('that is older than a rename is shown with the new name, and updates the counts', () => {
    keepCategory(createCategory(2, 'Flat', 2));
    expect(listShown()).toEqual([
      ['Flat', 3],
      ['Food', 5],
    ]);
    showCategories([createCategory(1, 'Food', 1, 6), createCategory(2, 'Home', 1, 4)]);
    expect(listShown()).toEqual([
      ['Flat', 4],
      ['Food', 6],
    ]);
  });

  test('that is as new as a write, or newer, is shown unchanged', () => {
    keepCategory(createCategory(2, 'Flat', 2));
    showCategories([createCategory(2, 'House', 3, 4)]);
    expect(listShown()).toEqual([['House', 4]]);
    showCategories([createCategory(2, 'Flat', 2, 4)]);
    expect(listShown()).toEqual([['Flat', 4]]);
  });

  test('keeps a change by another client when the response to an earlier write arrives late', () => {
    showCategories([createCategory(2, 'House', 10, 3)]);
    keepCategory(createCategory(2, 'Flat', 9));
    expect(listShown()).toEqual([['House', 3]]);
  });

  test('that lags behind two writes is shown with the later write, whichever response arrives first', () => {
    keepCategory(createCategory(2, 'Flat', 10));
    keepCategory(createCategory(2, 'Hut', 9));
    expect(listShown()).toContainEqual(['Flat', 3]);
    showCategories([createCategory(2, 'Home', 1, 4)]);
    expect(listShown()).toEqual([['Flat', 4]]);
  });

  test('includes a created category until it can no longer lag behind', () => {
    keepCategory(createCategory(3, 'Fun', 1));
    showCategories([createCategory(1, 'Food', 1, 5)]);
    expect(listShown()).toEqual([
      ['Food', 5],
      ['Fun', undefined],
    ]);
    vi.advanceTimersByTime(LAG_MS + 1);
    showCategories([createCategory(1, 'Food', 1, 5)]);
    expect(listShown()).toEqual([['Food', 5]]);
  });
});
