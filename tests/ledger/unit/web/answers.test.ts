// The answers that the page keeps, so that a view that is shown again asks for less.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask, forgetAllAnswers } from '../../../../web/page/answers.ts';

describe('an answer of the service', () => {
  const asked: string[] = [];

  beforeEach(() => {
    asked.length = 0;
    forgetAllAnswers();
    const empty = { getItem: () => null };
    vi.stubGlobal('sessionStorage', empty);
    vi.stubGlobal('localStorage', empty);
    vi.stubGlobal('fetch', async (path: string) => {
      asked.push(path);
      return Response.json({ success: true });
    });
  });
  afterEach(() => void vi.unstubAllGlobals());

  const given = new AbortController().signal;

  test('is kept: the caller always, of all others the latest', async () => {
    // The caller's answer comes after another, as it can in a load.
    for (const path of ['/first', '/me', ...Array.from({ length: 60 }, (_, n) => `/${n}`)])
      await ask(path, given);
    asked.length = 0;
    for (const path of ['/me', '/59', '/30', '/first']) await ask(path, given);
    expect(asked).toEqual(['/first']);
  });
});
