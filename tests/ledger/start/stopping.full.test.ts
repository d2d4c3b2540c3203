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
function startedBy({ child }: StartedService): ProcessEntry[] {
  return listDescendants(child.pid).filter(
    ({ parent, command }) => !(parent === child.pid && / lifeline /.test(command)),
  );
}

async function stopBy(signal: NodeJS.Signals, service: StartedService) {
  const { child } = service;
  const started = startedBy(service);
  process.kill(child.pid, signal);
  const how = await child.ended;
  return { how, started, left: listSurvivors(started) };
}

function theOne(service: StartedService, name: RegExp): ProcessEntry | undefined {
  return startedBy(service).find(({ command }) => name.test(command));
}

const ENGINE = /^\S*dynoxide serve/;
const PREPARATION = /^\S*node \S*table-work\.ts prepare/;
const GATEWAY = /^\S*node (?:--\S+ )*\S*offline\.ts/;

describe.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (signal) => {
  it.for([
    ['database', ENGINE],
    ['gateway', GATEWAY],
  ] as const)('stops a start that has just reached its %s', async ([, name]) => {
    const service = await startInTest();
    await waitUntil(() => theOne(service, name) !== undefined);
    const { how, left } = await stopBy(signal, service);
    expect(left).toEqual([]);
    expect(how).toBe('ended with exit code 0');
    expect(service.lines).toEqual([]);
  });
});

it('a start whose database does not answer yet can be stopped', async () => {
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  onTestFinished(() => void mute.close());
  const { port } = mute.address() as AddressInfo;
  const environment = { DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}` };
  const service = await startInTest({ environment });
  await waitUntil(() => theOne(service, PREPARATION) !== undefined);
  const { how, left } = await stopBy('SIGTERM', service);
  expect({ how, left, lines: service.lines }).toEqual({
    ...{ how: 'ended with exit code 0', left: [], lines: [] },
  });
});

it('a start stops in order however many signals it gets', async () => {
  const service = await startInTest();
  await service.ready;
  const { child } = service;
  const started = startedBy(service);
  const telling = setInterval(() => process.kill(child.pid, 'SIGINT'), 5);
  const how = await child.ended.finally(() => clearInterval(telling));
  expect({ how, left: listSurvivors(started) }).toEqual({
    how: 'ended with exit code 0',
    left: [],
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
  const started = startedBy(service);
  expect(started.length).toBeGreaterThanOrEqual(3);
  process.kill(sign * service.child.pid, signal);
  await service.child.ended;
  await waitUntil(() => listSurvivors(started).length === 0);
});

it.each([
  ['it', {}],
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
] as const)('the %s', ([title, name]) => {
  it('ends everything else when it dies', async () => {
    const service = await startInTest();
    await service.ready;
    const started = startedBy(service);
    const victim = theOne(service, name);
    if (!victim) throw new Error(`There is no ${title}`);
    process.kill(victim.pid, 'SIGKILL');
    expect(await service.child.ended).toBe('ended with exit code 1');
    expect(listSurvivors(started)).toEqual([]);
    await service.child.stop();
    expect(service.lines.at(-1)).toBe(`The ${title} ended by SIGKILL; everything is stopped`);
  });
});
