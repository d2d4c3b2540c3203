// /imports: clients record the rows that an import has added, and read them back.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectFieldErrors, expectFilterErrors } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';

const api = await openTestApi();

const createImportId = () => `2026-03-31 Umsätze.csv ${randomUUID()}`;

const encode = (cursor: string) => Buffer.from(cursor).toString('base64url');

async function readRows(import_id: string): Promise<readonly unknown[]> {
  const parts: { import_id: string }[] = [];
  for (let query: string | null = ''; query !== null; ) {
    const { status, body } = await api.get(
      '/imports',
      Object.fromEntries(new URLSearchParams(query)),
    );
    expect(status).toBe(200);
    parts.push(...body.data);
    query = body.next ?? null;
  }
  return parts.filter((each) => each.import_id === import_id);
}

describe('/imports', () => {
  it('keeps the rows of each part in order', async () => {
    const import_id = createImportId();
    await api.put('/imports', { import_id, part: 2, rows: ['c'] });
    const { status, body } = await api.put('/imports', { import_id, rows: ['b', 'a_-1'] });
    expect([status, body.data]).toEqual([200, { import_id, part: 1, recorded: 2 }]);
    expect(await readRows(import_id)).toEqual([
      { import_id, part: 1, rows: ['b', 'a_-1'] },
      { import_id, part: 2, rows: ['c'] },
    ]);
  });

  it('replaces a part, or deletes it if no rows are sent', async () => {
    const import_id = createImportId();
    for (const rows of [['a'], ['b'], ['b']]) await api.put('/imports', { import_id, rows });
    expect(await readRows(import_id)).toMatchObject([{ rows: ['b'] }]);
    for (let n = 0; n < 2; n += 1)
      expect((await api.put('/imports', { import_id, rows: [] })).status).toBe(200);
    expect(await readRows(import_id)).toEqual([]);
  });

  it('returns pages if the rows exceed the limit of one database call', async () => {
    const import_id = createImportId();
    const rows = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(32, '0'));
    // Some engines still return the item that exceeds the limit of a call, so the last but one item exceeds it.
    const parts = [1, 2, 3, 4, 5];
    for (const part of parts) {
      const { status } = await api.put('/imports', { import_id, part, rows });
      expect(status).toBe(200);
    }
    const recorded = await readRows(import_id);
    expect(recorded).toEqual(parts.map((part) => ({ import_id, part, rows })));
    expect((await api.get('/imports')).body.next).toMatch(/^after=/);
    // No id sorts after this one, so it comes at the end of the last page.
    const greatest = '\u{10ffff}'.repeat(64);
    await api.put('/imports', { import_id: greatest, rows: ['a'] });
    expect(await readRows(greatest)).toEqual([{ import_id: greatest, part: 1, rows: ['a'] }]);
  });

  it.each([
    [{ part: 1 }, ['import_id', 'rows']],
    [{ import_id: '', rows: [''] }, ['import_id', 'rows.0']],
    [{ import_id: 'a', rows: ['a b'] }, ['rows.0']],
    [{ import_id: 'a', rows: ['a'.repeat(33)] }, ['rows.0']],
    [{ import_id: 'a', rows: Array.from({ length: 10_001 }, () => 'a') }, ['rows']],
    [{ import_id: 'a', rows: [], part: 0 }, ['part']],
    [{ import_id: 'a', rows: [], part: 1_001 }, ['part']],
    [{ import_id: 'a', rows: [], part: 1.5 }, ['part']],
  ])('refuses an invalid body (%#)', async (body, fields) => {
    expectFieldErrors(await api.put('/imports', body), fields);
  });

  it.each([
    '',
    'x',
    encode('\u{10ffff}'),
    encode('1 '),
    encode(`1 ${'a'.repeat(65)}`),
    encode('2026-03-05 0 1 1'),
    `${encode('1 a')}!`,
  ])('refuses a cursor that no page returned: %j', async (after) => {
    expectFilterErrors(await api.get('/imports', { after }), ['after']);
  });
});
