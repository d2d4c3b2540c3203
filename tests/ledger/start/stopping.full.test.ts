// The start command leaves no process behind, whether it is stopped or killed.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  listDescendants,
  listSurvivors,
  type ProcessEntry,
  waitUntil,
} from '../../shared/support/process-tree.ts';
import { startInTest } from '../support/resources-in-test.ts';
import type { StartedService } from '../support/running-service.ts';

/** Lists the processes that the start launched, without the lifeline that ends them with this test. */
function listStarted({ child }: StartedService): ProcessEntry[] {
  return listDescendants(child.pid).filter(
    ({ parent, command }) => !(parent === child.pid && / lifeline /.test(command)),
  );
}

async function stopBy(signal: NodeJS.Signals, service: StartedService) {
  const { child } = service;
  const started = listStarted(service);
  process.kill(child.pid, signal);
  const ending = await child.ended;
  return { ending, started, survivors: listSurvivors(started) };
}

function findStarted(service: StartedService, name: RegExp): ProcessEntry | undefined {
  return listStarted(service).find(({ command }) => name.test(command));
}

const ENGINE = /^\S*dynoxide serve/;
const PREPARATION = /^\S*node \S*table-work\.ts prepare/;
const GATEWAY = /^\S*node (?:--\S+ )*\S*offline\.ts/;

describe.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (signal) => {
  it.for([
    ['database', ENGINE],
    ['gateway', GATEWAY],
  ] as const)('stops a start that has just launched its %s', async ([, command]) => {
    const service = await startInTest();
    await waitUntil(() => findStarted(service, command) !== undefined);
    const { ending, survivors } = await stopBy(signal, service);
    expect(survivors).toEqual([]);
    expect(ending).toBe('ended with exit code 0');
    expect(service.lines).toEqual([]);
  });
});

it('a start whose database does not respond yet can be stopped', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const environment = { DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}` };
  const service = await startInTest({ environment });
  await waitUntil(() => findStarted(service, PREPARATION) !== undefined);
  const { ending, survivors } = await stopBy('SIGTERM', service);
  expect({ ending, survivors, lines: service.lines }).toEqual({
    ...{ ending: 'ended with exit code 0', survivors: [], lines: [] },
  });
});

it('a start stops cleanly however many signals it gets', async () => {
  const service = await startInTest();
  await service.ready;
  const { child } = service;
  const started = listStarted(service);
  const signalling = setInterval(() => process.kill(child.pid, 'SIGINT'), 5);
  const ending = await child.ended.finally(() => clearInterval(signalling));
  expect({ ending, survivors: listSurvivors(started) }).toEqual({
    ending: 'ended with exit code 0',
    survivors: [],
  });
});

// A terminal sends Ctrl-C to everything that it runs; npm passes a SIGTERM on to its shell, and does not pass on a SIGHUP.
it.for([
  ['SIGINT', 'a terminal sends it', -1],
  ['SIGTERM', 'npm gets it', 1],
  ['SIGHUP', 'npm gets it', 1],
] as const)('%s stops everything when %s', async ([signal, , sign]) => {
  const service = await startInTest({ command: ['npm', 'start'] });
  await service.ready;
  const started = listStarted(service);
  expect(started.length).toBeGreaterThanOrEqual(3);
  process.kill(sign * service.child.pid, signal);
  await service.child.ended;
  await waitUntil(() => listSurvivors(started).length === 0);
});

it.each([
  ['the start', {}],
  ['npm', { command: ['npm', 'start'] }],
] as const)('no orphans are left when %s is killed', async (_, spec) => {
  const service = await startInTest(spec);
  await service.ready;
  const { started } = await stopBy('SIGKILL', service);
  await waitUntil(() => listSurvivors(started).length === 0);
});

describe.for([
  ['embedded database', ENGINE],
  ['local gateway', GATEWAY],
] as const)('the %s', ([title, command]) => {
  it('stops everything else when it is killed', async () => {
    const service = await startInTest();
    await service.ready;
    const started = listStarted(service);
    const victim = findStarted(service, command);
    if (!victim) throw new Error(`There is no ${title}`);
    process.kill(victim.pid, 'SIGKILL');
    expect(await service.child.ended).toBe('ended with exit code 1');
    expect(listSurvivors(started)).toEqual([]);
    await service.child.stop();
    expect(service.lines.at(-1)).toBe(`The ${title} ended by SIGKILL; everything is stopped`);
  });
});
