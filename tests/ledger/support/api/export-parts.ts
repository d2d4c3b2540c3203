// Reads an export as a client does: part by part.
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { Api } from './api-client.ts';

export type Query = Readonly<Record<string, string | number>>;

/** Yields the parts of an export in order; a test may write to the ledger between two parts. */
export async function* exportParts(api: Api, query: Query = {}): AsyncGenerator<string> {
  let next: Query | string | undefined = query;
  while (next !== undefined) {
    const { status, text, headers } = await api.get('/transactions/export', next);
    expect(status, text).toBe(200);
    const [, link] = /^<\?(.*)>; rel="next"$/.exec(headers.link ?? '') ?? [];
    expect(link !== undefined, headers.link).toBe(headers.link !== undefined);
    next = link;
    yield text;
  }
}

export async function exportAll(api: Api, query?: Query): Promise<string> {
  return (await Array.fromAsync(exportParts(api, query))).join('');
}

export function parseExport(csv: string): Record<string, string>[] {
  return parse(csv, { columns: true });
}
