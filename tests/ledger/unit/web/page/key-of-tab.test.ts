// The key of a tab: a key that another tab stores on the device, or a key of another ledger, never replaces it during work.
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';

function createStorage() {
  const items = new Map<string, string>();
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
    clear: () => items.clear(),
    key: (n: number) => [...items.keys()][n] ?? null,
    get length() {
      return items.size;
    },
  };
}

const [device, tab] = [createStorage(), createStorage()];
const reload = vi.fn();
const ledgersByKey: Readonly<Record<string, string>> = {
  fl_home: 'home',
  fl_new: 'home',
  fl_work: 'work',
};
const sentKeys: (string | null)[] = [];
let revoked = '';
/** Idempotency-Keys of the accepted writes */
const idempotencyKeys: (string | null)[] = [];
/** True if the service refuses every key except at `/me` */
let areListsRefused = false;

vi.stubGlobal('location', { hash: '#period=2024-02', reload });
vi.stubGlobal('localStorage', device);
vi.stubGlobal('sessionStorage', tab);
vi.stubGlobal('fetch', async (path: string, { method, headers }: RequestInit) => {
  const authorization = new Headers(headers).get('authorization');
  sentKeys.push(authorization);
  const ledger = ledgersByKey[authorization?.replace('Bearer ', '') ?? ''];
  if (!ledger || authorization === revoked)
    return Response.json({ message: 'No' }, { status: 401 });
  if (method === 'POST') {
    idempotencyKeys.push(new Headers(headers).get('idempotency-key'));
    return Response.json({ data: { id: 1, name: 'Food', etag: '"c1.1.0"' } });
  }
  if (path === '/me') return Response.json({ data: { ledger, kind: 'key', scope: 'write' } });
  if (areListsRefused) return Response.json({ message: 'No' }, { status: 401 });
  if (path.startsWith('/categories')) return Response.json({ data: [] });
  if (path.startsWith('/summary')) return Response.json({ data: { groups: [] } });
  return Response.json({ data: [], next: null, pagination: { pages: 1, total: 0 } });
});

const LEDGER_MODULE = '../../../../../web/page/ledger.ts';
const { call, storedKey } = await import('../../../../../web/page/client.ts');
const { forgetWrittenCategories } = await import('../../../../../web/page/category-list.ts');
const { createCategory } = await import('../../../../../web/page/category-writes.ts');
const { untilAnswered } = await import('../../../../../web/page/repeated-call.ts');
const { forgetAllResponses } = await import('../../../../../web/page/responses.ts');
const { readRows } = await import('../../../../../web/page/view.ts');
const { trackWork: work } = await import('../../../../../web/page/work-under-way.ts');
const { keyQuestion } = await import('../../../../../web/page/key-question.ts');
const {
  loadView,
  me,
  notice,
  openWithKey,
  refresh,
  reloadIfKeyReplaced: reopenIfReplaced,
} = await import('../../../../../web/page/ledger.ts');

async function openPage({ isOnDevice = true } = {}): Promise<void> {
  storedKey.write('fl_home', { isOnDevice });
  await loadView();
  sentKeys.length = 0;
}

afterAll(() => {
  // Other test files share the modules of the page.
  storedKey.write('', { isOnDevice: false });
  forgetAllResponses();
  me.value = undefined;
  vi.unstubAllGlobals();
});
beforeEach(() => {
  device.clear();
  tab.clear();
  revoked = '';
  areListsRefused = false;
  sentKeys.length = 0;
  reload.mockClear();
});

describe('the key of a tab', () => {
  test('stays the same when another tab keeps the key of another ledger', async () => {
    await openPage();
    device.setItem('api-key', 'fl_work');
    await call('/me');
    expect(sentKeys).toEqual(['Bearer fl_home']);
    expect(storedKey.isReplaced()).toBe(true);
  });

  test('that is stored only in the tab is not replaced by the key of the device', async () => {
    await openPage({ isOnDevice: false });
    device.setItem('api-key', 'fl_work');
    expect(storedKey.isReplaced()).toBe(false);
    storedKey.forgetRefused();
    expect([tab.getItem('api-key'), device.getItem('api-key')]).toEqual([null, 'fl_work']);
  });

  test('that was replaced in this tab is not refused because of a response to the previous key', async () => {
    await openPage();
    revoked = 'Bearer fl_home';
    const response = call('/me');
    storedKey.write('fl_new', { isOnDevice: false });
    await expect(response).rejects.toMatchObject({ status: 0, isRetryable: true });
  });

  test('that is refused stops all further requests', async () => {
    await openPage();
    revoked = 'Bearer fl_home';
    refresh();
    await vi.waitFor(() => expect(keyQuestion.peek()).toBeDefined());
    sentKeys.length = 0;
    await expect(call('/transactions', { method: 'POST', body: {} })).rejects.toMatchObject({
      status: 401,
    });
    await loadView();
    expect(sentKeys).toEqual([]);
  });

  test('opens another ledger only by a reload, which ends all work on the previous ledger', async () => {
    await openPage();
    revoked = 'Bearer fl_home';
    refresh();
    await vi.waitFor(() => expect(keyQuestion.peek()).toBeDefined());
    await openWithKey('fl_work', true);
    expect(reload).toHaveBeenCalledOnce();
    expect(device.getItem('api-key')).toBe('fl_work');
    sentKeys.length = 0;
    await expect(call('/transactions')).rejects.toMatchObject({ status: 401 });
    expect(sentKeys).toEqual([]);
  });

  test('opens another ledger by a reload even if only the outbox of the previous ledger was open', async () => {
    const first: typeof import('../../../../../web/page/ledger.ts') = await import(
      `${LEDGER_MODULE}?only-outbox-opened`
    );
    storedKey.write('fl_home', { isOnDevice: true });
    device.setItem('outbox another closed-page', '[]');
    areListsRefused = true;
    await first.loadView();
    expect(keyQuestion.peek()?.refused).toMatchObject({ status: 401 });
    areListsRefused = false;
    await first.openWithKey('fl_work', true);
    expect(reload).toHaveBeenCalledOnce();
  });

  test('opens the same ledger again without a reload', async () => {
    await openPage();
    revoked = 'Bearer fl_home';
    refresh();
    await vi.waitFor(() => expect(keyQuestion.peek()).toBeDefined());
    await openWithKey('fl_wrong', false);
    expect(keyQuestion.peek()?.refused).toMatchObject({ status: 401 });
    await openWithKey('fl_new', false);
    await vi.waitFor(() => expect(me.peek()?.ledger).toBe('home'));
    expect(reload).not.toHaveBeenCalled();
    expect([tab.getItem('api-key'), device.getItem('api-key')]).toEqual(['fl_new', null]);
  });

  test('that is refused for an action is asked for again, and the action repeated with the new key', async () => {
    await openPage();
    notice.value = { text: 'Moved', action: { name: 'Undo', run: () => undefined } };
    revoked = 'Bearer fl_home';
    idempotencyKeys.length = 0;
    const actions = [
      createCategory({ name: 'Food' }),
      readRows({}),
      untilAnswered(() => call('/imports')),
    ];
    await vi.waitFor(() => expect(keyQuestion.peek()).toBeDefined());
    expect([me.peek(), idempotencyKeys]).toEqual([undefined, []]);
    await openWithKey('fl_wrong', false);
    await openWithKey('fl_new', false);
    const [created, rows] = await Promise.all(actions);
    expect([created, rows]).toEqual([expect.objectContaining({ name: 'Food' }), []]);
    expect([idempotencyKeys.length, notice.peek()?.text]).toEqual([1, 'Moved']);
    notice.value = undefined;
    forgetWrittenCategories();
  });

  test('that another tab replaces opens its ledger after the work that is under way', async () => {
    await openPage();
    const { promise, resolve } = Promise.withResolvers<void>();
    const worked = work(() => promise);
    device.setItem('api-key', 'fl_work');
    const reopened = reopenIfReplaced();
    await call('/me');
    expect([reload.mock.calls.length, sentKeys]).toEqual([0, ['Bearer fl_home']]);
    resolve();
    await Promise.all([worked, reopened]);
    expect(reload).toHaveBeenCalledOnce();
  });

  test('that another tab replaces and restores during the work reloads nothing', async () => {
    await openPage();
    const { promise, reject } = Promise.withResolvers<void>();
    const worked = work(() => promise).catch(() => undefined);
    device.setItem('api-key', 'fl_work');
    const reopened = reopenIfReplaced();
    device.setItem('api-key', 'fl_home');
    reject(new Error('stopped'));
    await Promise.all([worked, reopened]);
    expect(reload).not.toHaveBeenCalled();
  });
});
