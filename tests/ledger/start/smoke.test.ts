// The start command runs, serves requests, refuses and stops; the *.full.test.ts files test everything else.
import { expect, it } from 'vitest';
import { listDescendants, listSurvivors } from '../../shared/support/process-tree.ts';
import { startInTest } from '../support/resources-in-test.ts';

it('npm start responds at the address it prints, and stops everything it started on SIGTERM', async () => {
  const { child, port, ready } = await startInTest();
  expect(await ready).toBe(`http://localhost:${port}`);
  const response = await fetch(`${await ready}/categories`);
  expect(await response.json()).toMatchObject({ success: true, data: [] });
  const started = listDescendants(child.pid).filter(({ command }) => !/ lifeline /.test(command));
  expect(started.length).toBeGreaterThanOrEqual(2);
  process.kill(child.pid, 'SIGTERM');
  expect(await child.ended).toBe('ended with exit code 0');
  expect(listSurvivors(started)).toEqual([]);
});

it.for([
  ['PORT', 'abc', /^PORT must be a whole number from 1 to 65535, not /],
  ['DATA_DIR', '/proc/ledger/data', /^The data folder \/proc\/ledger\/data cannot be used: /],
] as const)(
  'npm start refuses %s=%s in one line, with exit code 1',
  async ([name, value, line]) => {
    const command = ['env', `${name}=${value}`, process.execPath, 'local/start.ts'] as const;
    const { child, lines } = await startInTest({ command });
    expect(await child.ended).toBe('ended with exit code 1');
    await child.stop();
    expect(lines).toEqual([expect.stringMatching(line)]);
  },
);
