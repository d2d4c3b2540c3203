// `migrate run` over the functions and a sandbox: from a plan to the new version, through every interruption, and back
// by itself where the window fails.
import { describe, expect, it } from 'vitest';
import { askAPerson } from '../../../../lib/migration/adapters/webhook.ts';
import { testUserOf } from '../../../../lib/migration/ports/memory-backend.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { createLocalPlace } from '../../../../local/migrate/local-place.ts';
import type { Place } from '../../../../local/migrate/place.ts';
import { SOURCE, type WorldOptions } from '../../../../local/sandbox/world.ts';
import { createMigration, RUN } from '../../../support/migration/migration.ts';
import { type TypedOptions, typeCommand } from '../../../support/migration/typed-command.ts';

const FROM_THE_START = `run --run ${RUN} --source ${SOURCE} --free-gb 1`;

async function createOperator(options: Partial<WorldOptions> = {}, hasWebhook = true) {
  const migration = await createMigration(options);
  const { clock, pass, operator } = migration;
  const hooks = hasWebhook ? operator.hooks : askAPerson;
  const services = { ...migration.services, hooks };
  const place = createLocalPlace({
    where: 'table of the test',
    remembering: async () => services,
    services: async () => services,
  });
  const time = {
    now: () => clock().getTime(),
    sleep: async (milliseconds: number) => pass(milliseconds),
  };
  const type = (words: string, how: TypedOptions = {}, there: Place = place) =>
    typeCommand(there, words, { time, ...how });
  const phase = async () => (await migration.runs.read(RUN)).phase;
  return { ...migration, place, type, phase };
}

describe('migrate run', () => {
  it('takes a plan to the new version, one line a step, and names the way back', async () => {
    const { type, phase, services, target } = await createOperator();
    const { code, events } = await type(`${FROM_THE_START} --yes --json`);
    expect([code, await phase(), await services.setting.read()]).toEqual([0, 'live', target]);
    const steps = events.filter(({ event }) => event === 'step').map(({ step }) => step);
    expect(steps.slice(0, 3)).toEqual(['backup', 'rebuild', 'copy']);
    const begun = events.slice(0, 3).map(({ event }) => event);
    expect(begun).toEqual(['begun', 'prerequisites', 'plan']);
    expect(events.map(({ event }) => event)).not.toContain('failed');
    expect(events.at(-1)).toMatchObject({ event: 'end', phase: 'live' });
    for (const { next_steps } of events) expect(next_steps).toEqual(expect.any(Array));
    expect(events.at(-1)?.next_steps).toEqual([
      `npm run migrate -- rollback --execute --run ${RUN}`,
    ]);
    expect(await type('run')).toMatchObject({ code: 0 });
    expect(await phase()).toBe('live');
  });

  it('continues after every answer that was lost', async () => {
    const { type, place, phase } = await createOperator();
    let invocations = 0;
    const losing: Place = {
      ...place,
      async invoke(name, payload) {
        const answer = await place.invoke(name, payload);
        if (name === 'status') return answer;
        invocations += 1;
        if (invocations % 2 === 1) throw new Error('The answer is lost');
        return answer;
      },
    };
    let tries = 0;
    for (let code = 1; code !== 0 && tries < 50; tries += 1) {
      code = (await type(`${FROM_THE_START} --yes`, {}, losing)).code;
    }
    expect(await phase()).toBe('live');
    expect(tries).toBeGreaterThan(5);
  });

  it('asks before the window, and does nothing there unless the run id is typed', async () => {
    const { type, phase, operator } = await createOperator();
    for (const answers of [undefined, ['yes'], ['']]) {
      const { code, status } = await type(FROM_THE_START, { ...(answers && { answers }) });
      expect([code, await phase()]).toEqual([3, 'verified']);
      expect(status).toContain('RefusedUnconfirmed');
      expect(status).toContain(`npm run migrate -- run --run ${RUN}`);
    }
    expect(operator.heard).toEqual([]);
    const { code, output } = await type('run', { answers: [RUN] });
    expect([code, await phase()]).toEqual([0, 'live']);
    expect(output).toMatch(/^\[\d\d:\d\d left\] ✓ Freeze: done in \d.*$/m);
  });

  it('rolls back by itself where a step of the window fails and nobody answers', async () => {
    const { type, phase, services, operator } = await createOperator({
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    const { code, events } = await type(`${FROM_THE_START} --yes --json`);
    expect([code, await phase(), await services.setting.read()]).toEqual([1, 'returned', SOURCE]);
    expect(events.find(({ event }) => event === 'failed')).toMatchObject({
      step: 'cutover',
      error: { name: 'RefusedSemanticOnly' },
    });
    expect(operator.heard.at(-1)).toBe('open-writes');
  });

  it('tries a step of the window again where the operator says so', async () => {
    const { type, phase, operator, backend } = await createOperator({ forgetsToFreeze: true });
    const { code } = await type(FROM_THE_START, {
      answers: [RUN, 'retry'],
      onQuestion: (question) => {
        if (question.includes('retry')) backend.setWriters('nobody');
      },
    });
    expect([code, await phase()]).toEqual([0, 'live']);
    expect(operator.heard.at(-1)).toBe('open-writes');
  });

  it('goes on where somebody else takes a step of the window meanwhile', async () => {
    const { type, phase, place, operator, follow } = await createOperator();
    let isTaken = false;
    const racing: Place = {
      ...place,
      async invoke(name, payload, signal) {
        if (name === 'backup' && (await phase()) === 'frozen' && !isTaken) {
          isTaken = true;
          await follow('backup', 'copy', 'verify', 'cutover');
        }
        return await place.invoke(name, payload, signal);
      },
    };
    const { code } = await type(`${FROM_THE_START} --yes`, {}, racing);
    expect([code, isTaken, await phase()]).toEqual([0, true, 'live']);
    expect(operator.heard).not.toContain('deploy-old');
  });

  it('has a person do what no webhook does, and goes on when it is confirmed', async () => {
    const { type, phase, operator, place, services } = await createOperator({}, false);
    const doing: Place = {
      ...place,
      async invoke(name, payload, signal) {
        if (name === 'confirm') {
          const { pendingAction } = await readStatus(services);
          const { action, collection } = pendingAction ?? {};
          if (action === undefined || collection === undefined) throw new Error('Nothing pending');
          const request = { runId: RUN, occasion: '', deadlineAt: undefined };
          await operator.hooks.ask({ ...request, action, collection, testUser: testUserOf(RUN) });
        }
        return await place.invoke(name, payload, signal);
      },
    };
    const { code } = await type(FROM_THE_START, { answers: [RUN, '', '', '', ''] }, doing);
    expect([code, await phase()]).toEqual([0, 'live']);
    expect(operator.heard).toEqual(['freeze', 'deploy-new', 'open-writes']);
  });

  it('says which table has no run, and how to begin one', async () => {
    const { type } = await createOperator();
    const { code, status } = await type('run');
    expect([code, status]).toEqual([3, expect.stringContaining('table of the test')]);
    expect(status).toContain('run --source');
  });
});
