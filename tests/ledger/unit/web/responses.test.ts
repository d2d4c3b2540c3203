// The page's cache of responses, so that a view that is shown again needs fewer requests.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { callCached, forgetAllResponses } from '../../../../web/page/responses.ts';

describe('a response from the service', () => {
  const requests: string[] = [];

  beforeEach(() => {
    requests.length = 0;
    const emptyStorage = { getItem: () => null };
    vi.stubGlobal('sessionStorage', emptyStorage);
    vi.stubGlobal('localStorage', emptyStorage);
    vi.stubGlobal('fetch', async (path: string) => {
      requests.push(path);
      return Response.json({ success: true });
    });
  });
  afterEach(() => {
    // Other test files share the cache.
    forgetAllResponses();
    vi.unstubAllGlobals();
  });

  const signal = new AbortController().signal;

  test('stays cached if it names the caller, and otherwise while it is among the latest', async () => {
    // The response that names the caller can arrive after another.
    for (const path of ['/first', '/me', ...Array.from({ length: 60 }, (_, n) => `/${n}`)])
      await callCached(path, signal);
    requests.length = 0;
    for (const path of ['/me', '/59', '/30', '/first']) await callCached(path, signal);
    expect(requests).toEqual(['/first']);
  });
});
