// How the rows of a statement are sent to a service that fails on the way.
import { expect, it } from 'vitest';
import { readLedger } from '../../../../cli/import/ledger-rows.ts';
import { readStatement } from '../../../../cli/import/statement.ts';
import { upload } from '../../../../cli/import/upload.ts';
import { createServiceClient } from '../../../../cli/service-client.ts';
import { CSV_COLUMNS } from '../../../../lib/http/transaction-csv.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/retry.ts';

const BANK = readStatement('date,name,amount\n2026-03-05,Tea,-3\n2026-03-06,Pay,2500').rows;

function openService(answer: (path: string, requests: number) => Response) {
  const steps: string[] = [];
  const service = createServiceClient({
    ...{ url: 'http://service.example', userAgent: 'test' },
    retryPolicy: { ...DEFAULT_RETRY_POLICY, sleep: async () => void steps.push('pause') },
    fetch: async (address) => {
      const { pathname } = new URL(String(address));
      if (pathname === '/categories') return Response.json({ data: [] });
      steps.push(pathname);
      return answer(pathname, steps.filter((step) => step === pathname).length);
    },
  });
  return { service, steps };
}

const results = (...statuses: number[]) =>
  Response.json({ data: { results: statuses.map((status, index) => ({ index, status })) } });

it('pauses before it repeats rows that failed', async () => {
  const { service, steps } = openService((_, requests) =>
    requests < 3 ? results(201, 500) : results(201, 201),
  );
  const uploaded = await upload(service, BANK, () => undefined);
  expect(uploaded).toEqual({ created: 2, duplicates: 0, refused: [] });
  const bulk = '/transactions/bulk';
  expect(steps).toEqual([bulk, 'pause', bulk, 'pause', bulk]);
});

it('backs off for as long as the service has no room', async () => {
  const { service, steps } = openService((_, requests) =>
    requests < 9 ? new Response('', { status: requests % 2 ? 429 : 503 }) : results(201, 201),
  );
  const uploaded = await upload(service, BANK, () => undefined);
  expect(uploaded).toEqual({ created: 2, duplicates: 0, refused: [] });
  expect(steps.filter((step) => step === 'pause')).toHaveLength(8);
});

it('names the rows that fail to the end', async () => {
  const { service, steps } = openService(() => results(201, 500));
  const uploaded = await upload(service, BANK, () => undefined);
  expect(uploaded).toMatchObject({ created: 1, refused: [{ line: 3 }] });
  expect(steps.at(-1)).not.toBe('pause');
});

it('takes no export whose rows it cannot read for the ledger', async () => {
  const exported = [CSV_COLUMNS.join(), '1,2026-02-30,Tea,3,expense,,,,,'].join('\r\n');
  const { service } = openService(() => new Response(exported));
  await expect(readLedger(service)).rejects.toMatchObject({ name: 'StartError' });
});
