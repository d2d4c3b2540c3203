// Runs the examples of docs/ledger/api.md and of the API description, one after another, on an empty ledger.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { listRoutesWithSection, updateRouteSections } from '../../../cli/describe/api-guide.ts';
import { addNewEndpoints } from '../../../cli/describe/changelog.ts';
import { pageCursor } from '../../../lib/ledger/http/cursor.ts';
import { PARAMETERS } from '../../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { assertDescribed } from '../support/api/described-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { findRoute, LEDGER_OPERATIONS, OPERATIONS } from '../support/api/routes.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const DOCUMENT_FILE = join(PROJECT, 'docs/ledger/api.md');
const RECEIVED_FILE = join(PROJECT, '.local/received/api.md');
const DOCUMENT = readFileSync(DOCUMENT_FILE, 'utf8');
const CHANGELOG = readFileSync(join(PROJECT, 'CHANGELOG.md'), 'utf8');
const EXAMPLE = /```http\n(\w+) (\S+)\n(.*?)```\n```(json|csv)\n(.*?)```/gs;
const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
/** Requests in the README that show their response; the groups are method, path, options and response */
const README_EXAMPLE = /^\$ ledger (?:-X (\w+) )?'?localhost:3000([^?' \n]+)(.*)\n(\{.*\})$/gm;
const JSON_HEADERS = { 'content-type': 'application/json' };

test('every route has an example, and every example returns the documented response', async () => {
  const clock = () => new Date('2026-03-31T12:00:00Z');
  const api = await openInProcess(await createTestService({ clock, ledgerId: 'default' }));
  const routes = new Set<string>();
  let document = DOCUMENT;
  for (const [example, method = '', target = '', rawBody, type, expected = ''] of DOCUMENT.matchAll(
    EXAMPLE,
  )) {
    const [path = '', query = ''] = target.split('?');
    routes.add(findRoute(method, path).key);
    const request = rawBody ? { rawBody, headers: JSON_HEADERS } : {};
    const { body, text } = await api.request(method, path, { query, ...request });
    const received = type === 'csv' ? text.replaceAll('\r\n', '\n') : formatJson(body);
    const isAsDocumented =
      type === 'csv' ? received === expected : isDeepStrictEqual(body, JSON.parse(expected));
    if (!isAsDocumented)
      document = document.replace(example, () => example.replace(expected, () => received));
  }
  mkdirSync(dirname(RECEIVED_FILE), { recursive: true });
  writeFileSync(RECEIVED_FILE, document);
  expect(document, `To approve it: cp ${RECEIVED_FILE} ${DOCUMENT_FILE}`).toBe(DOCUMENT);
  expect([...routes].sort()).toEqual(LEDGER_OPERATIONS.map(([route]) => route).sort());
});

test('every response in the README matches the API description', () => {
  const examples = [...README.matchAll(README_EXAMPLE)];
  expect(examples.length).toBeGreaterThan(10);
  for (const [, shownMethod, shownPath = '', options = '', text = ''] of examples) {
    const path = shownPath.replace(/\$[A-Z]+$/, '1');
    const method = shownMethod ?? (options.includes(' -d ') ? 'POST' : 'GET');
    const body = JSON.parse(text);
    const cursor = body.pagination?.next_cursor ?? undefined;
    expect(v.is(v.optional(pageCursor), cursor), `${path} shows a cursor in another format`).toBe(
      true,
    );
    const status = body.success
      ? (ENDPOINTS_BY_ROUTE[findRoute(method, path).key]?.status ?? 200)
      : { validation_failed: 400, conflict: 409 }[String(body.error)];
    const headers = { ...JSON_HEADERS, 'x-request-id': 'any', etag: 'any', location: path };
    assertDescribed(method, path, { status: status ?? 500, headers, text, body });
  }
});

test('every route has the section that `npm run describe` writes', () => {
  const pageParts = ['GET /page.css', 'GET /page.js'];
  const routes = OPERATIONS.map(([route]) => route).filter((route) => !pageParts.includes(route));
  expect(listRoutesWithSection(DOCUMENT).toSorted()).toEqual(routes.toSorted());
  expect(updateRouteSections(DOCUMENT)).toBe(DOCUMENT);
});

test('the changelog names every endpoint: `npm run describe` adds the new ones', () => {
  expect(addNewEndpoints(CHANGELOG)).toBe(CHANGELOG);
});

/** Formats a response with each field on its own line. */
function formatJson(body: object): string {
  const lines = Object.entries(body).map(
    ([name, value]) => `  "${name}": ${JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

test('each example of the API description succeeds unchanged, and so does each item of a bulk request', async () => {
  const api = await openInProcess(await createTestService());
  for (const [route, { body, example, exampleQuery = {}, status = 200 }] of Object.entries(
    ENDPOINTS_BY_ROUTE,
  )) {
    const [method = '', path = ''] = route.split(' ');
    expect(example === undefined, route).toBe(body === undefined);
    const response = await api.request(
      method,
      path.replace('{id}', String(PARAMETERS.id?.example)),
      {
        query: exampleQuery,
        ...(example && { body: example }),
      },
    );
    const failed = response.body.data?.failed ?? 0;
    expect({ route, status: response.status, failed }).toEqual({ route, status, failed: 0 });
  }
});
