// The merge of categories, its Undo, and updates of categories. Only the service is a stand-in, which checks versions.
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';

interface Version {
  readonly id: number;
  readonly etag: string;
}
type StoredRecord = Version & Readonly<Record<string, unknown>>;
interface Item {
  readonly id: number;
  readonly if_match?: string;
  readonly category_id?: number;
}
interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly items: readonly Item[];
}

const storageItems = new Map<string, string>();
const storage = {
  getItem: (name: string) => storageItems.get(name) ?? null,
  setItem: (name: string, text: string) => void storageItems.set(name, text),
  removeItem: (name: string) => void storageItems.delete(name),
};
vi.stubGlobal('location', { hash: '#period=2024-02' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', storage);
vi.stubGlobal('fetch', respond);
vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });

const { categoriesById, forgetWrittenCategories } = await import(
  '../../../../../web/page/category-list.ts'
);
const { isMoving, mergeCategory, resumeMerge } = await import(
  '../../../../../web/page/category-merge.ts'
);
const { keepDraft, flushDrafts } = await import('../../../../../web/page/kept-drafts.ts');
const { updateCategory } = await import('../../../../../web/page/category-writes.ts');
const { loadView, me, notice } = await import('../../../../../web/page/ledger.ts');
const { forgetAllResponses } = await import('../../../../../web/page/responses.ts');

const FOOD = 1;
const HOME = 2;
/** Ids are never reused, because the page remembers the versions that it has written. */
let nextId = 100;
let categories = new Map<number, StoredRecord>();
let transactions = new Map<number, StoredRecord>();
const sentRequests: SentRequest[] = [];
/** Faults of the next requests, by a part of their method and path */
let faults: { readonly request: string; readonly reply: () => unknown }[] = [];

function createNextVersion<Stored extends Version>(record: Stored, changes: object): Stored {
  const [name, version] = record.etag.split('.');
  return { ...record, ...changes, etag: `${name}.${Number(version) + 1}.0"` };
}

function changeElsewhere(records: Map<number, StoredRecord>, id: number, changes: object): void {
  const record = records.get(id);
  if (record) records.set(id, createNextVersion(record, changes));
}

function applyWrite(records: Map<number, StoredRecord>, item: Item): number {
  const { id, if_match, ...changes } = item;
  const record = records.get(id);
  if (!record) return 404;
  if (record.etag !== if_match) return 412;
  if (records === transactions && !categories.get(item.category_id ?? FOOD)?.is_active) return 400;
  records.set(id, createNextVersion(record, changes));
  return 200;
}

async function respond(path: string, request: RequestInit = {}): Promise<Response> {
  const { method = 'GET' } = request;
  const body = request.body ? JSON.parse(String(request.body)) : {};
  const if_match = new Headers(request.headers).get('if-match') ?? undefined;
  const id = Number(/\/(\d+)$/.exec(path)?.[1]);
  const items: readonly Item[] = body.transactions ?? [{ id, if_match, ...body }];
  if (method !== 'GET') sentRequests.push({ method, path, items });
  const fault = faults.find((candidate) => `${method} ${path}`.includes(candidate.request));
  faults = faults.filter((candidate) => candidate !== fault);
  const response = await fault?.reply();
  if (response instanceof Response) return response;
  const records = path.startsWith('/categories') ? categories : transactions;
  if (method === 'GET') return Response.json(createReadBody(path, records.get(id)));
  const statuses = items.map((item) => applyWrite(records, item));
  if (fault) throw new TypeError('lost');
  if (!body.transactions) return respondToOne(statuses[0] ?? 404, records.get(id));
  const results = statuses.map((status, index) => ({
    ...{ index, status, message: `Refused with ${status}` },
    etag: records.get(items[index]?.id ?? 0)?.etag,
  }));
  return Response.json({ data: { results } }, { status: 207 });
}

function respondToOne(status: number, record: StoredRecord | undefined): Response {
  const headers = { etag: record?.etag ?? '' };
  return status === 200
    ? Response.json({ data: record }, { headers })
    : Response.json({ message: `Refused with ${status}` }, { status });
}

function createReadBody(path: string, record: StoredRecord | undefined): object {
  if (record) return { data: record };
  if (path === '/me') return { data: { ledger: 'home', kind: 'local', scope: 'write' } };
  if (path.startsWith('/categories')) return { data: [...categories.values()] };
  if (path.startsWith('/summary')) return { data: { groups: [] } };
  const category = new URLSearchParams(path.split('?')[1]).get('category_id');
  const data = [...transactions.values()].filter(
    (row) => !category || row.category_id === Number(category),
  );
  return { data, next: null, pagination: { pages: 1, total: data.length } };
}

/** Opens the page on a ledger with two categories, and transactions in the first. @returns the ids of the transactions */
async function openPage(count: number): Promise<readonly number[]> {
  categories = new Map(
    [FOOD, HOME].map((id) => {
      const name = id === FOOD ? 'Food' : 'Home';
      return [id, { id, etag: `"c${id}.1.0"`, name, color: null, is_active: true }];
    }),
  );
  const ids = Array.from({ length: count }, (_, n) => nextId + n);
  nextId += count;
  const fields = { amount: 1, type: 'expense', category_id: FOOD, transaction_date: '2024-02-10' };
  const times = { created_at: '2024-02-10T00:00:00Z', updated_at: '2024-02-10T00:00:00Z' };
  transactions = new Map(
    ids.map((id, n) => [
      id,
      { id, etag: `"t${id}.1.0"`, description: `Row ${n}`, notes: null, ...fields, ...times },
    ]),
  );
  await loadView();
  sentRequests.length = 0;
  return ids;
}

function findCategory(id: number) {
  const category = categoriesById.peek().get(id);
  if (!category) throw new Error(`no category ${id}`);
  return category;
}

const merge = () => mergeCategory(findCategory(FOOD), findCategory(HOME));
const readNotice = () => notice.peek()?.text ?? '';
const findAction = () => notice.peek()?.action;
const listCategoryIds = () => [...transactions.values()].map((row) => row.category_id);
const listWrites = () =>
  sentRequests.map(({ method, path, items }) => [method, path, items.length]);

async function runAction(name: string): Promise<void> {
  expect(findAction()?.name).toBe(name);
  findAction()?.run();
  await vi.waitFor(() => expect(isMoving.peek()).toBe(false));
}

function createRefusal(status: number): () => Response {
  return () => Response.json({ message: 'No' }, { status });
}

beforeEach(() => {
  faults = [];
  notice.value = undefined;
  forgetWrittenCategories();
});
afterEach(() => {
  vi.clearAllTimers();
  expect(faults).toEqual([]);
});
afterAll(() => {
  // Other test files share the modules of the page.
  forgetWrittenCategories();
  forgetAllResponses();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a merge', () => {
  test('moves all transactions, a hundred at a time, and deactivates the category', async () => {
    await openPage(102);
    expect(await merge()).toBe(true);
    expect(new Set(listCategoryIds())).toEqual(new Set([HOME]));
    expect(findCategory(FOOD).is_active).toBe(false);
    expect(listWrites()).toEqual([
      ['PUT', '/transactions/bulk', 100],
      ['PUT', '/transactions/bulk', 2],
      ['PUT', '/categories/1', 1],
    ]);
  });

  test('that is started twice at once runs once', async () => {
    await openPage(3);
    expect(await Promise.all([merge(), merge()])).toEqual([true, false]);
    expect(readNotice()).toContain('Moved 3 transactions from Food to Home');
  });

  test('whose category cannot be deactivated says so, and can be undone', async () => {
    await openPage(3);
    faults.push({ request: 'PUT /categories/1', reply: createRefusal(400) });
    expect(await merge()).toBe(false);
    expect(readNotice()).toContain('Food stays active.');
    await runAction('Undo');
    expect(new Set(listCategoryIds())).toEqual(new Set([FOOD]));
  });

  test('of a category that was changed elsewhere succeeds when it is repeated', async () => {
    await openPage(2);
    changeElsewhere(categories, FOOD, { color: '#112233' });
    expect(await merge()).toBe(false);
    expect(readNotice()).toContain('It was changed elsewhere meanwhile.');
    expect(await merge()).toBe(true);
    expect(findCategory(FOOD)).toMatchObject({ is_active: false, color: '#112233' });
  });
});

describe('a merge that a reload interrupts', () => {
  /** The merge as the tab keeps it */
  const readKept = () => {
    flushDrafts();
    return JSON.parse(storage.getItem('merge home ') ?? 'null');
  };

  test('is kept until it is done', async () => {
    const ids = await openPage(2);
    let kept: unknown;
    const reply = () => {
      kept = readKept();
      return createRefusal(400)();
    };
    faults.push({ request: 'PUT /categories/1', reply });
    await merge();
    expect(kept).toMatchObject({ category: { id: FOOD }, target: { id: HOME } });
    expect((kept as { ids: number[] }).ids.toSorted()).toEqual(ids);
    expect([readKept(), await resumeMerge()]).toEqual([null, false]);
  });

  test('continues afterwards, and Undo also moves back what was moved before', async () => {
    const ids = await openPage(3);
    const kept = { category: findCategory(FOOD), target: findCategory(HOME), ids };
    keepDraft('merge home ', kept);
    changeElsewhere(transactions, ids[0] ?? 0, { category_id: HOME });
    expect(await resumeMerge()).toBe(true);
    expect(readNotice()).toContain('Moved 3 transactions from Food to Home. Food is inactive.');
    expect(listWrites()).toEqual([
      ['PUT', '/transactions/bulk', 2],
      ['PUT', '/categories/1', 1],
    ]);
    await runAction('Undo');
    expect(new Set(listCategoryIds())).toEqual(new Set([FOOD]));
  });

  test('says so if the remaining transactions cannot be read, and is not resumed again', async () => {
    const ids = await openPage(1);
    keepDraft('merge home ', { category: findCategory(FOOD), target: findCategory(HOME), ids });
    faults.push({ request: 'GET /transactions/export', reply: createRefusal(400) });
    expect(await resumeMerge()).toBe(false);
    expect(readNotice()).toContain('Food was not merged.');
    expect([readKept(), listCategoryIds()]).toEqual([null, [FOOD]]);
  });
});

describe('Undo of a merge', () => {
  test('activates the category, and moves its transactions back', async () => {
    await openPage(3);
    await merge();
    await runAction('Undo');
    expect(new Set(listCategoryIds())).toEqual(new Set([FOOD]));
    expect(findCategory(FOOD).is_active).toBe(true);
    expect(readNotice()).toBe('Moved back 3 transactions to Food.');
  });

  test('that is clicked twice runs once', async () => {
    await openPage(3);
    await merge();
    const undo = findAction();
    undo?.run();
    expect(findAction()).toBeUndefined();
    undo?.run();
    await vi.waitFor(() => expect(isMoving.peek()).toBe(false));
    expect(readNotice()).toBe('Moved back 3 transactions to Food.');
  });

  test('does not move back a transaction that has been changed elsewhere since, and names it', async () => {
    const [, second = 0] = await openPage(3);
    await merge();
    changeElsewhere(transactions, second, { notes: 'changed' });
    await runAction('Undo');
    expect(listCategoryIds()).toEqual([FOOD, HOME, FOOD]);
    expect(notice.peek()).toMatchObject({
      text: 'Moved back 2 transactions to Food. The others stay where they are:',
      details: ['Row 1: it has since been changed.'],
    });
  });

  test('that cannot activate the category can be tried again', async () => {
    await openPage(2);
    await merge();
    faults.push({ request: 'PUT /categories/1', reply: createRefusal(400) });
    await runAction('Undo');
    expect(readNotice()).toContain('Food was not restored.');
    await runAction('Try again');
    expect(new Set(listCategoryIds())).toEqual(new Set([FOOD]));
  });

  test('writes nothing once another ledger is open', async () => {
    await openPage(2);
    await merge();
    const undo = findAction();
    const home = me.peek();
    me.value = home && { ...home, ledger: 'work' };
    onTestFinished(() => {
      me.value = home;
    });
    sentRequests.length = 0;
    undo?.run();
    await vi.waitFor(() => expect(isMoving.peek()).toBe(false));
    expect(sentRequests).toEqual([]);
  });
});

test('two simultaneous updates of a category both succeed', async () => {
  await openPage(1);
  const food = findCategory(FOOD);
  await Promise.all([
    updateCategory(food, { name: 'Meals' }),
    updateCategory(food, { color: '#112233' }),
  ]);
  expect(categories.get(FOOD)).toMatchObject({ name: 'Meals', color: '#112233' });
});
