// The commands that stop users or cannot be taken back, each as a process of its own; here and on a stage.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { outputOf } from '../../../../local/tools.ts';
import {
  COMMAND,
  CONFIRMED,
  createOperator,
  NO_ACCOUNT,
  OF_RUN,
  PATIENT,
  PLACES,
  RUN,
} from '../../../support/migration/command-line.ts';

const TARGET = `${SOURCE}_v3_${RUN}`;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe.each(PLACES)('the way there and back, %s', (place) => {
  it('is cut over, and gone back on with the number of lost writes', PATIENT, async () => {
    const operator = await createOperator(place, { hasWebhook: true });
    const { migrate, succeed, services, record } = operator;
    await operator.prove();

    expect(await succeed('cutover', ...OF_RUN)).toMatch(/a dry run, nothing was changed/);
    expect(await migrate('cutover', ...OF_RUN, '--execute')).toMatchObject({ code: 3 });
    expect([(await record()).phase, await services.setting.read()]).toEqual(['proved', SOURCE]);
    const live = await succeed('cutover', ...OF_RUN, ...CONFIRMED);
    expect(live).toMatch(/^cutover: done, the run is live\n/);
    expect(await services.setting.read()).toBe(TARGET);

    const { points } = await services.vectors.scroll(TARGET, { limit: 1 });
    await services.vectors.deletePoints(TARGET, { ids: points.map(({ id }) => id) });
    const refused = await migrate('rollback', ...OF_RUN, ...CONFIRMED);
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringMatching(/RefusedLossNotAcknowledged: .* 1 /),
    ]);
    expect((await record()).phase).toBe('live');
    const back = await succeed('rollback', ...OF_RUN, ...CONFIRMED, '--acknowledged-loss', '1');
    expect(back).toBe('rollback: done, the run is returned\nNext: nothing, the run has ended.\n');
    expect(await services.setting.read()).toBe(SOURCE);
  });
});

describe.each(PLACES)('the clock, %s', (place) => {
  it('is kept by a watch, which goes back from a window that has closed', PATIENT, async () => {
    const operator = await createOperator(place, { hasWebhook: true });
    expect(await operator.succeed('watch')).toBe('watch: nothing is due\n');
    operator.pass(-31 * MINUTE_MS);
    await operator.prove();
    expect(await operator.succeed('watch')).toMatch(/^watch: done, the run is returned\n/);
    expect(operator.operator.heard.at(-1)).toBe('open-writes');
    expect(await operator.succeed('watch')).toMatch(/^watch: nothing is due\n/);
  });

  it('ends the way back on its day, by its own command, and not before', PATIENT, async () => {
    const operator = await createOperator(place, { hasWebhook: true });
    const { succeed, services, pass } = operator;
    pass(-29.5 * DAY_MS);
    await operator.prove({ removesWhenOver: true, removesArtifactsWhenOver: true });
    await operator.follow('cutover');
    const retention = ['retention', ...OF_RUN];
    expect(await succeed(...retention)).toMatch(/"daysLeft": 1,/);
    expect(await succeed(...retention, ...CONFIRMED)).toMatch(
      /^retention: not yet, the run is live\n/,
    );
    const run = await operator.record();
    const lease = await services.lock.take(RUN);
    await services.runs.write(lease, { ...run, retainUntil: Date.now() - 1 });
    await services.lock.release(lease);
    expect(await succeed(...retention, ...CONFIRMED)).toMatch(/the run is irreversible\n/);
    const late = await operator.migrate('rollback', ...OF_RUN, ...CONFIRMED);
    expect([late.code, late.stderr]).toEqual([3, expect.stringMatching(/^RefusedIrreversible: /)]);
    const held = await operator.migrate(...retention, ...CONFIRMED);
    expect([held.code, held.stderr]).toEqual([3, expect.stringMatching(/^RefusedRetained: /)]);
  });
});

const SCRIPT = outputOf('script', '--version')?.includes('util-linux') === true;

describe.skipIf(!SCRIPT)('a person at a terminal', () => {
  async function typed(answer: string) {
    const operator = await createOperator();
    await operator.start();
    const command = `${process.execPath} ${COMMAND} abandon --run ${RUN} --execute`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...NO_ACCOUNT, ...operator.named },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
      if (text.includes("type the run's id")) child.stdin.write(answer);
    });
    const [code] = await once(child, 'close');
    return { code, shown, phase: (await operator.record()).phase };
  }

  it('types the id, and it is done', async () => {
    const { code, shown, phase } = await typed(`${RUN}\r`);
    expect([code, phase], shown).toEqual([0, 'abandoned']);
    expect(shown).toContain('abandon: done, the run is abandoned');
  });

  it.each([
    ['types something else', 'yes\r', '"yes" does not confirm'],
    ['presses Ctrl-C', '\x03', 'Nobody was there to confirm'],
    ['ends the input', '\x04', 'Nobody was there to confirm'],
  ])('%s, and nothing is done', async (_, answer, told) => {
    const { code, shown, phase } = await typed(answer);
    expect([code, phase], shown).toEqual([3, 'started']);
    expect(shown).toContain(`RefusedUnconfirmed: ${told}`);
  });
});
