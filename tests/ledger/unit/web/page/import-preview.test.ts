// The preview of an import shows the file and options that the user chose last. Only the service is a stand-in.
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';

const storage = {
  getItem: () => null,
  setItem: () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  },
  removeItem: () => undefined,
};
/** The service answers each read of the imports once the next of these promises is resolved */
let pendingReplies: PromiseWithResolvers<void>[] = [];
const postedPaths: string[] = [];
const importer = new URL('../../../../../web/page/importer.ts', import.meta.url).href;
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('localStorage', storage);
vi.stubGlobal('sessionStorage', { ...storage, setItem: () => undefined });
vi.stubGlobal('document', { querySelector: () => ({ dataset: { importer } }) });
vi.stubGlobal('fetch', async (path: string, { method = 'GET', body }: RequestInit) => {
  if (path.startsWith('/imports') && method === 'GET') await pendingReplies.shift()?.promise;
  if (method === 'POST') postedPaths.push(path);
  const results = JSON.parse(String(body ?? '{}')).transactions?.map(
    (_: object, index: number) => ({
      index,
      status: 201,
    }),
  );
  return Response.json({ data: results ? { results } : [], next: null });
});

const { currentImport, closeImport, isImportUnderWay, openFile, preview } = await import(
  '../../../../../web/page/import-state.ts'
);
const { runImport } = await import('../../../../../web/page/import-run.ts');
const { forgetAllResponses } = await import('../../../../../web/page/responses.ts');
const NO_OPTIONS = { withDuplicates: false, withChanges: false };

function createFile(name: string): File {
  return new File(['Date,Description,Amount\n2001-07-13,Lunch,-1.00'], name);
}

function readPreview() {
  const state = currentImport.peek();
  if (state?.stage !== 'preview') throw new Error('no preview is shown');
  return state;
}

beforeEach(() => {
  closeImport();
  pendingReplies = [];
  postedPaths.length = 0;
});
afterAll(() => {
  // Other test files share the modules of the page.
  closeImport();
  forgetAllResponses();
  vi.unstubAllGlobals();
});

describe('the preview of an import', () => {
  test('does not appear if it was cancelled while the file was read', async () => {
    const reply = Promise.withResolvers<void>();
    pendingReplies.push(reply);
    const opening = openFile(createFile('bank.csv'));
    closeImport();
    reply.resolve();
    await opening;
    expect(currentImport.peek()).toBeUndefined();
  });

  test('shows the file that was chosen last', async () => {
    const reply = Promise.withResolvers<void>();
    pendingReplies.push(reply);
    const openingFirst = openFile(createFile('first.csv'));
    await openFile(createFile('second.csv'));
    reply.resolve();
    await openingFirst;
    expect(readPreview().name).toBe('second.csv');
  });

  test('says that the file cannot be read', async () => {
    const file = createFile('gone.csv');
    vi.spyOn(file, 'arrayBuffer').mockRejectedValue(new Error('gone'));
    await openFile(file);
    expect(readPreview().problem).toBe('gone');
  });

  test('is not imported while the file is read again with other options', async () => {
    await openFile(createFile('bank.csv'));
    const firstPreview = readPreview();
    const reading = preview({ ...firstPreview, options: { isInverted: true } }, { isAgain: true });
    await runImport(firstPreview, NO_OPTIONS);
    await reading;
    expect(postedPaths).toEqual([]);
    expect(readPreview().options).toEqual({ isInverted: true });
  });

  test('is imported once, even if the storage is full, and no other file opens meanwhile', async () => {
    await openFile(createFile('bank.csv'));
    await preview({ ...readPreview(), options: { account: 'Giro' } }, { isAgain: true });
    const firstPreview = readPreview();
    const imports = [runImport(firstPreview, NO_OPTIONS), runImport(firstPreview, NO_OPTIONS)];
    expect(isImportUnderWay()).toBe(true);
    await openFile(createFile('other.csv'));
    await Promise.all(imports);
    expect(postedPaths).toEqual(['/transactions/bulk']);
    expect(currentImport.peek()).toMatchObject({ stage: 'done', name: 'bank.csv', created: 1 });
  });
});
