// The web pages as a browser gets them: their headers and caching, the sources that they may load from, and their size.
import { expect, inject, test } from 'vitest';
import { findLargestResponse } from '../../../bench/ledger/costs/bills.ts';

const url = inject('apiUrl');

test.each([
  ['/', 'text/html', 'no-cache'],
  ['/docs', 'text/html', 'public, max-age=300'],
  ['/docs/', 'text/html', 'public, max-age=300'],
  ['/page.css', 'text/css', 'public, max-age=300'],
  ['/page.js', 'text/javascript', 'public, max-age=300'],
  ['/page.js/', 'text/javascript', 'public, max-age=300'],
])(
  'GET %s is %s without credentials, cached for a while and revalidated by its hash',
  async (path, type, cacheControl) => {
    const { status, headers } = await fetch(url + path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe(cacheControl);
    expect(headers.get('x-request-id')).toBeTruthy();
    const etag = headers.get('etag') ?? 'none';
    const revalidated = await fetch(url + path, {
      headers: { 'if-none-match': `"other", ${etag}` },
    });
    expect([revalidated.status, await revalidated.text()]).toEqual([304, '']);
    expect([revalidated.headers.get('etag'), revalidated.headers.get('cache-control')]).toEqual([
      etag,
      cacheControl,
    ]);
  },
);

test('the files that the page names are cached for a year, only under the hash of their deployment', async () => {
  const page = await (await fetch(`${url}/`)).text();
  const paths = [...page.matchAll(/"(\/page[^"]+)"/g)].map(([, path = '']) => path);
  expect(paths).toHaveLength(3);
  for (const path of paths.map((each) => each.replace('&amp;', '&'))) {
    const readCacheControl = async (address: string) =>
      (await fetch(url + address)).headers.get('cache-control');
    expect(await readCacheControl(path)).toBe('public, max-age=31536000, immutable');
    expect(await readCacheControl(path.replace(/v=./, 'v=-'))).toBe('public, max-age=300');
  }
});

test('the first view of the page needs less than 60 KB, without the importer', async () => {
  const sizes = ['/', '/page.css', '/page.js'].map(async (path) => {
    const { headers } = await fetch(url + path);
    expect(headers.get('content-encoding')).toBe('gzip');
    return Number(headers.get('content-length'));
  });
  const totalBytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size);
  expect(totalBytes).toBeGreaterThan(1000);
  expect(totalBytes).toBeLessThan(60_000);
});

test('the first line of the script lets the browser compile it as it arrives', async () => {
  const script = await (await fetch(`${url}/page.js`)).text();
  // The browser ignores this hint on any other line.
  expect(script.split('\n')[0]).toBe('//# allFunctionsCalledOnLoad');
});

test('the importer is a separate script, under the hash of its deployment', async () => {
  const page = await (await fetch(`${url}/`)).text();
  const [, path = ''] = /data-importer="([^"]+)"/.exec(page) ?? [];
  expect(path).toMatch(/^\/page\.js\?part=importer&amp;v=[\w-]{16}$/);
  const [importer, main] = await Promise.all(
    [path.replace('&amp;', '&'), '/page.js'].map(async (each) => (await fetch(url + each)).text()),
  );
  expect(importer).toContain('readStatement');
  expect(main).not.toContain('readStatement}');
  expect(importer).not.toBe(main);
});

test('the page runs only its own script and style, and has none inline', async () => {
  const response = await fetch(`${url}/`);
  const page = await response.text();
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?! src="\/page\.js\?v=[\w-]{16}")/);
  expect(page).toMatch(/href="\/page\.css\?v=[\w-]{16}"/);
});

test.each([
  ['GET /', '/'],
  ['GET /docs', '/docs'],
  ['GET /openapi.json', '/openapi.json'],
  ['GET /page.css', '/page.css'],
  ['GET /page.js', '/page.js'],
  ['GET /page.js', '/page.js?part=importer'],
])(
  '%s is no larger than the cost estimate assumes, for a client without compression: %s',
  async (route, path) => {
    const response = await fetch(url + path, { headers: { 'accept-encoding': 'identity' } });
    expect(response.headers.get('content-encoding')).toBeNull();
    const kilobytes = (await response.arrayBuffer()).byteLength / 1_000;
    expect(kilobytes).toBeGreaterThan(0.5);
    expect(kilobytes).toBeLessThanOrEqual(findLargestResponse({ route }));
  },
);
