// An import that is interrupted at any point has recorded every row that it may have created. The next import does not
// count a row as deleted if it was never created.
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { upload } from '../../../../../cli/ledger/import/upload.ts';
import { createServiceClient } from '../../../../../cli/ledger/service-client.ts';
import { importPartBody } from '../../../../../lib/ledger/http/import-json.ts';
import {
  createRecordedRows,
  createRecorder,
  type RecordedPart,
  resolvePendingRecords,
} from '../../../../../lib/ledger/import/recorded-rows.ts';
import { readCsv } from '../../../../../lib/ledger/import/statement.ts';
import type { StatementRow } from '../../../../../lib/ledger/import/transaction-row.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../../lib/shared/retry.ts';

/** Number of requests of a hundred rows; a part of the record holds the rows of five requests. */
const ROW_REQUESTS = 6;
const [TEA] = readCsv('date,name,amount\n2026-03-05,Tea,-3').rows;
const ROWS = Array.from({ length: ROW_REQUESTS * 100 }, (_, n) => ({
  ...(TEA as StatementRow),
  externalId: `row-${n}`,
  importId: 'x',
}));

interface Interruption {
  /** Number of requests after which the service no longer responds */
  readonly servedRequests: number;
  /** For each of the two requests in progress at the interruption: true if it is still carried out */
  readonly carriedOut: readonly boolean[];
  /** Index of a row that the service refuses */
  readonly refusedIndex?: number;
}

/** Runs an import until the interruption. @returns the ledger and its records afterwards */
async function interrupt({ servedRequests, carriedOut, refusedIndex }: Interruption) {
  const parts = new Map<number, RecordedPart>();
  const ledger: typeof ROWS = [];
  let requests = 0;
  const attempt = (carryOut: () => void) => {
    const number = requests;
    requests += 1;
    const isServed = number < servedRequests;
    if (isServed || carriedOut[number - servedRequests]) carryOut();
    if (!isServed) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  };
  const service = createServiceClient({
    url: 'http://service.example',
    userAgent: 'test',
    retryPolicy: { ...DEFAULT_RETRY_POLICY, sleep: async () => undefined },
    fetch: async (address, { body } = {}) => {
      if (String(address).includes('/categories')) return Response.json({ data: [] });
      const transactions = JSON.parse(String(body)).transactions as { external_id: string }[];
      const numbers = transactions.map((row) => Number(row.external_id.slice('row-'.length)));
      attempt(() => {
        for (const n of numbers) if (n !== refusedIndex) ledger.push(...ROWS.slice(n, n + 1));
      });
      const results = numbers.map((n, index) => ({
        index,
        status: n === refusedIndex ? 422 : 201,
      }));
      return Response.json({ data: { results } });
    },
  });
  const recorder = createRecorder({ importId: 'x', total: ROWS.length }, async (part) => {
    v.parse(importPartBody, { import_id: part.importId, part: part.part, rows: part.rows });
    attempt(() => parts.set(part.part, part));
  });
  const request = { rows: ROWS, importId: 'x', recorder };
  const isComplete = await upload(service, request, () => undefined).then(
    () => true,
    () => false,
  );
  return { ledger, parts: [...parts.values()], isComplete };
}

async function resolve(imports: readonly RecordedPart[], rows: typeof ROWS) {
  const writtenParts = new Map(imports.map((part) => [part.part, part]));
  await resolvePendingRecords(
    { imports, rows },
    {
      readParts: async () => imports,
      writePart: async (part) => void writtenParts.set(part.part, part),
    },
  );
  return [...writtenParts.values()];
}

/** Number of requests of an import: an announcement and an upload per hundred rows, and a final write for each of two parts */
const TOTAL_REQUESTS = 2 * ROW_REQUESTS + 2;
const OUTCOMES = [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
];
const INTERRUPTIONS = Array.from({ length: TOTAL_REQUESTS + 1 }, (_, n) => n).flatMap(
  (servedRequests) => OUTCOMES.map((carriedOut) => ({ servedRequests, carriedOut })),
);

it('an upload that is interrupted anywhere leaves at most 200 rows pending, and its resolved record has exactly the created rows', async () => {
  let completed = 0;
  for (const interruption of INTERRUPTIONS) {
    const { ledger, parts, isComplete } = await interrupt(interruption);
    if (isComplete) completed += 1;
    const { has, isOnlyCategorised, isPossiblyCreated } = createRecordedRows(parts, ledger);
    expect(ROWS.filter(isPossiblyCreated).length).toBeLessThanOrEqual(200);
    expect(ledger.every((row) => isOnlyCategorised({ ...row, category: 'Food' }))).toBe(true);
    expect(ROWS.filter(has)).toEqual(ledger);
    const resolved = await resolve(parts, ledger);
    expect(ROWS.filter(createRecordedRows(resolved).has)).toEqual(ledger);
    expect(await resolve(resolved, ledger)).toEqual(resolved);
  }
  expect(completed).toBe(OUTCOMES.length);
});

it.each([50, 450])(
  'row %i, which was refused before the interruption, does not count as created',
  async (refusedIndex) => {
    const request = Math.floor(refusedIndex / 100);
    for (const interruption of INTERRUPTIONS) {
      const { ledger, parts } = await interrupt({ ...interruption, refusedIndex });
      const { has } = createRecordedRows(await resolve(parts, ledger));
      // If the request with the refused row is the last one that got a response, its record is still pending.
      const hasLaterRows = ledger.some(
        ({ externalId }) => Number(externalId.slice(4)) >= (request + 1) * 100,
      );
      if (hasLaterRows) expect(ROWS.slice(refusedIndex, refusedIndex + 1).filter(has)).toEqual([]);
    }
  },
);

it('each hundred rows are announced while the previous hundred are sent, and sent only once they have been announced', async () => {
  const steps: string[] = [];
  const { promise: secondAnnouncement, resolve: endSecondAnnouncement } =
    Promise.withResolvers<void>();
  const service = createServiceClient({
    url: 'http://service.example',
    userAgent: 'test',
    fetch: async (address) => {
      if (String(address).includes('/categories')) return Response.json({ data: [] });
      steps.push('send');
      // The first request ends only after the second announcement: the two must overlap.
      await secondAnnouncement;
      const results = Array.from({ length: 100 }, (_, index) => ({ index, status: 201 }));
      return Response.json({ data: { results } });
    },
  });
  const recorder = createRecorder({ importId: 'x', total: 300 }, async () => {
    steps.push('announce');
    await Promise.resolve();
    steps.push('announced');
    if (steps.filter((step) => step === 'announced').length === 2) endSecondAnnouncement();
  });
  const request = { rows: ROWS.slice(0, 300), importId: 'x', recorder };
  expect(await upload(service, request, () => undefined)).toMatchObject({ created: 300 });
  const sendPositions = steps.flatMap((step, n) => (step === 'send' ? n : []));
  for (const [n, position] of sendPositions.entries()) {
    const announced = steps.slice(0, position).filter((step) => step === 'announced');
    expect(announced.length).toBeGreaterThan(n);
  }
});
