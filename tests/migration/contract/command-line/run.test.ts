// `migrate run` on a sandbox: from a plan to the new version, and an automatic rollback if the window fails
import { describe, expect, it } from 'vitest';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { ScrolledPoint } from '../../../../lib/migration/ports/vector-store.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { describeInFull, itInFull } from '../../../shared/support/quick-cases.ts';
import { onRequest } from '../../support/changed-services.ts';
import { emptyCollection } from '../../support/collections.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createRunningOperator, FROM_THE_START } from '../../support/running-operator.ts';

const WINDOW_MS = 30 * 60_000;
const DAY_MS = 86_400_000;

/** Makes the webhook refuse this many times to open writes on the new version. It may have opened them anyway. */
const refuseToOpen = (times: number) => (migration: Migration) => {
  let remaining = times;
  return onRequest(migration, 'open-writes', async ({ collection }) => {
    if (collection === SOURCE) return;
    remaining -= 1;
    if (remaining >= 0) throw new Refusal('RefusedByService', 'The webhook answered 400.');
  });
};

describe('migrate run', () => {
  it('runs a plan to the new version, prints a line for each step, and names the rollback command', async () => {
    const { type, phase, services, target } = await createRunningOperator();
    const { code, events } = await type(`${FROM_THE_START} --yes --json`);
    expect([code, await phase(), await services.setting.read()]).toEqual([0, 'live', target]);
    const steps = events.filter(({ event }) => event === 'step').map(({ step }) => step);
    expect(steps.slice(0, 3)).toEqual(['backup', 'rebuild', 'copy']);
    const firstEvents = events.slice(0, 3).map(({ event }) => event);
    expect(firstEvents).toEqual(['checking', 'prerequisites', 'plan']);
    expect(events.map(({ event }) => event)).not.toContain('failed');
    expect(events.at(-1)).toMatchObject({ event: 'end', phase: 'live' });
    for (const { next_steps } of events) expect(next_steps).toEqual(expect.any(Array));
    expect(events.at(-1)?.next_steps).toEqual([
      `npm run migrate -- rollback --execute --run ${RUN}`,
    ]);
    expect(await type('run')).toMatchObject({ code: 0 });
    expect(await phase()).toBe('live');
  });

  it.each(['run', 'copy --execute'])(
    '`%s` passes --deletes to each of its steps',
    async (command) => {
      const { type, invoker } = await createRunningOperator();
      await type(FROM_THE_START.replace('run', 'preflight --execute'));
      await type('backup --execute');
      const payloads: unknown[] = [];
      const invoke: typeof invoker.invoke = async (name, payload, ...rest) => {
        if (name === 'rebuild' || name === 'copy') payloads.push([name, payload.deletes]);
        return await invoker.invoke(name, payload, ...rest);
      };
      await type(`${command} --deletes 60`, {}, { ...invoker, invoke });
      expect(payloads).toEqual([
        ['rebuild', 60],
        ['copy', 60],
      ]);
    },
  );

  itInFull('confirms nothing if --report does not name the current report', async () => {
    const { type, phase, operator } = await createRunningOperator();
    const { code, output, status } = await type(`${FROM_THE_START} --yes --report deadbeef99`);
    expect([code, await phase(), operator.actions]).toEqual([3, 'copied', []]);
    expect(status).toMatch(/The report to approve is [0-9a-f]{12}, not deadbeef99\./);
    expect(output + status).not.toContain('Confirmed by');
  });

  itInFull(
    'continues a window only with the report and the length that it was opened with',
    async () => {
      const { type, phase, invoker, operator, services } = await createRunningOperator();
      const invoke: typeof invoker.invoke = async (name, ...rest) => {
        const isOpen = (await phase().catch(() => 'none')) === 'switching';
        if (name === 'cutover' && isOpen) throw new TypeError('A defect');
        return await invoker.invoke(name, ...rest);
      };
      await type(`${FROM_THE_START} --yes`, {}, { ...invoker, invoke });
      const { approvedReport } = await readStatus(services);
      const actions = [...operator.actions];
      for (const command of ['run', 'cutover --execute']) {
        const { code, status } = await type(`${command} --yes --report deadbeef99`);
        expect([code, await phase(), operator.actions]).toEqual([3, 'switching', actions]);
        expect(status).toMatch(/opened with the report [0-9a-f]{12}, not deadbeef99\./);
      }
      const longer = await type('cutover --execute --yes --window-minutes 60');
      expect([longer.code, await phase(), operator.actions]).toEqual([3, 'switching', actions]);
      expect(longer.status).toMatch(/The window is open until .* leave out --window-minutes\./);
      expect(await type(`run --yes --report ${approvedReport?.slice(0, 12)}`)).toMatchObject({
        code: 0,
      });
      expect(await phase()).toBe('live');
    },
  );

  itInFull('opens the window only if the operator types the run id', async () => {
    const { type, phase, operator } = await createRunningOperator();
    for (const answers of [undefined, ['yes'], ['']]) {
      const { code, status } = await type(FROM_THE_START, { ...(answers && { answers }) });
      expect([code, await phase()]).toEqual([3, 'copied']);
      expect(status).toContain('RefusedNotApproved');
      expect(status).toContain(`npm run migrate -- run --run ${RUN}`);
    }
    expect(operator.actions).toEqual([]);
    const { code, output } = await type('run', { answers: [RUN] });
    expect([code, await phase()]).toEqual([0, 'live']);
    expect(output).toMatch(/^\[\d\d:\d\d left\] ✓ Cutover: frozen$/m);
    expect(output).toMatch(/^✓ Cutover: done in \d.*$/m);
  });

  itInFull('opens the next window with one command after a rollback', async () => {
    const { type, phase, services, target } = await createRunningOperator();
    await type(`${FROM_THE_START} --yes`);
    expect(await type('rollback --execute --yes')).toMatchObject({ code: 0 });
    expect(await phase()).toBe('copied');
    const { code, events } = await type('run --yes --json');
    expect([code, await phase(), await services.setting.read()]).toEqual([0, 'live', target]);
    const steps = events.filter(({ event }) => event === 'step').map(({ step }) => step);
    expect(steps.slice(0, 2)).toEqual(['copy', 'cutover']);
  });

  itInFull('refuses a plan that differs from the plan of the run', async () => {
    const { type, phase, operator } = await createRunningOperator();
    await type(FROM_THE_START);
    for (const option of ['--source other', '--window-minutes 99']) {
      const { code, status } = await type(`run ${option} --yes`);
      expect([code, await phase()]).toEqual([3, 'copied']);
      expect(status).toContain('is fixed');
    }
    expect(operator.actions).toEqual([]);
  });

  it('rolls back automatically if a step of the window fails and no operator answers', async () => {
    const { type, phase, services, operator } = await createRunningOperator({
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    const { code, events } = await type(`${FROM_THE_START} --yes --json`);
    expect([code, await phase(), await services.setting.read()]).toEqual([1, 'copied', SOURCE]);
    expect(events.find(({ event }) => event === 'failed')).toMatchObject({
      step: 'cutover',
      error: { name: 'RefusedNewVersion' },
    });
    expect(operator.actions.at(-1)).toBe('open-writes');
  });
});

describeInFull(
  'when the data of an ended run cannot be removed because the active collection was emptied',
  () => {
    it.each([
      ['live', 'repairs the collection', ['--removes-artifacts-when-over']],
      ['live', 'says that users emptied it', ['--removes-artifacts-when-over']],
      ['aborted', 'repairs the collection', []],
      ['aborted', 'says that users emptied it', []],
    ] as const)(
      'a run that is %s succeeds once the operator %s and types the suggested command',
      async (phase, remedy, options) => {
        const running = await createRunningOperator();
        const { type, services } = running;
        await type([FROM_THE_START, '--yes', ...options].join(' '));
        if (phase === 'aborted') await type('rollback --execute --yes');
        if (phase === 'aborted') await type('abort --execute --yes');
        const active = await services.setting.read();
        const { points } = await services.vectors.scroll(active, { limit: 999 });
        await emptyCollection(running, active);
        running.advanceClock(31 * DAY_MS);
        const { code, events } = await type('run --json');
        const { error, next_steps: suggested } = events.at(-1) ?? {};
        expect([code, error]).toMatchObject([3, { name: 'RefusedEmptied' }]);
        expect(JSON.stringify(error)).not.toContain('--as-it-was');
        const commands = [`run --run ${RUN}`, `run --deletes 60 --run ${RUN}`] as const;
        expect(suggested).toEqual(commands.map((typed) => `npm run migrate -- ${typed}`));
        const isRepaired = remedy === 'repairs the collection';
        if (isRepaired) await restore(running, active, points);
        expect(await type(commands[isRepaired ? 0 : 1])).toMatchObject({ code: 0 });
        const backups = await Array.fromAsync(services.artifacts.list(`${RUN}/snapshot-`));
        expect(backups).toEqual([]);
      },
    );
  },
);

async function restore(
  { services }: Migration,
  collection: string,
  points: readonly ScrolledPoint[],
) {
  const withVectors = points.map(({ vector = asJsonText('[]'), ...point }) => ({
    ...point,
    vector,
  }));
  await services.vectors.upsert(collection, withVectors, 'upsert');
}

describe('once users may be on the new version', () => {
  it('run repeats the refused step, and shows the refusal once', async () => {
    const { type, phase } = await createRunningOperator({}, true, refuseToOpen(3));
    const { code, output } = await type(`${FROM_THE_START} --yes`);
    expect([code, await phase()]).toEqual([0, 'live']);
    const shown = output.match(/left\] ! Cutover: RefusedByService: .*until the deadline\.$/gm);
    expect(shown).toHaveLength(1);
  });

  itInFull('run rolls back at the deadline, and the status still shows the refusal', async () => {
    const refusing = refuseToOpen(Number.POSITIVE_INFINITY);
    const { type, phase, services } = await createRunningOperator({}, true, refusing);
    const { code } = await type(`${FROM_THE_START} --yes`);
    expect([code, await phase(), await services.setting.read()]).toEqual([1, 'copied', SOURCE]);
    expect((await readStatus(services)).refused).toMatchObject({ name: 'RefusedByService' });
  });

  itInFull('cutover finishes an expired window instead of rolling it back', async () => {
    const running = await createExpiredRun();
    const { code } = await running.type('cutover --execute');
    expect([code, await running.phase()]).toEqual([0, 'live']);
    expect(running.operator.actions).not.toContain('deploy-old');
  });

  itInFull(
    'cutover is suggested, and finishes, if an expired window has no collection to return to',
    async () => {
      const running = await createExpiredRun({ hasSource: false });
      const finish = `npm run migrate -- cutover --execute --run ${RUN}`;
      const refused = await running.type('run --yes --json');
      expect([refused.code, await running.phase()]).toEqual([3, 'switching']);
      expect(refused.events.at(-1)?.next_steps).toContain(finish);
      expect((await running.type('status')).output).toContain(finish);
      expect(await running.type('cutover --execute')).toMatchObject({ code: 0 });
      expect(await running.phase()).toBe('live');
    },
  );
});

/** Creates a run whose webhook has refused once to open writes, and whose window has since expired. */
async function createExpiredRun({ hasSource = true } = {}) {
  let isTooNew = false;
  const running = await createRunningOperator({}, true, (migration) => {
    const { vectors } = migration.services;
    // A store of version 2.0.0 cannot restore the snapshot.
    const fetchVersion = async () => (isTooNew ? '2.0.0' : await vectors.fetchVersion());
    return { ...refuseToOpen(1)(migration), vectors: { fetchVersion } };
  });
  const interruption = new AbortController();
  const sleep = async () => {
    if ((await readStatus(running.services)).openedAt === null) return running.letTimePass(1_000);
    interruption.abort(new Error('Interrupted'));
    throw interruption.signal.reason;
  };
  await running.type(`${FROM_THE_START} --yes`, { interruption, time: { sleep } });
  expect((await readStatus(running.services)).openedAt).not.toBeNull();
  running.advanceClock(WINDOW_MS);
  if (hasSource) return running;
  await running.services.vectors.deleteCollection(SOURCE);
  isTooNew = true;
  return running;
}
