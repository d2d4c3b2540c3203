// What the functions of the migration ask of table, artifacts and setting is what their roles grant: nothing is missing,
// nothing is spare. No double checks permissions, so this is where a missing one shows before it does on AWS.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRemembering } from '../../lib/migration/runs/remembering.ts';
import { createDocumentClient } from '../../lib/store/document-client.ts';
import { createLocalClient, createTable } from '../../local/create-table.ts';
import { startDatabase } from '../../local/engine.ts';
import { createRunning } from '../../local/running.ts';
import { SOURCE } from '../../local/sandbox/world.ts';
import { roleOf, type Statement, statementsOf } from '../support/granted-access.ts';
import { createRecordedRun, type RecordedRun, SETTING } from '../support/migration/recorded-run.ts';
import { createUsedAccess } from '../support/migration/used-access.ts';
import { migrationFunctionsOf, readTemplate } from '../support/packaged-template.ts';

const TABLE = 'access-in-use';
const DAY_MS = 86_400_000;

// The embedded engine is a program for this one platform.
const hasEngine = process.platform === 'linux' && process.arch === 'x64';

const used = createUsedAccess();
let time = Date.parse('2026-03-01T09:00:00Z');
const pass = (milliseconds: number) => {
  time += milliseconds;
};

const BEFORE = ['preflight', 'backup', 'rebuild', 'copy', 'verify'];
const INSIDE = ['freeze', 'backup', 'copy'];

async function prove(run: RecordedRun): Promise<void> {
  await run.start();
  await run.finish(...BEFORE);
  await run.openWindow();
  await run.finish(...INSIDE);
}

async function race(run: RecordedRun, attempt: () => Promise<unknown>): Promise<void> {
  expect(await run.whileRaced(attempt)).toMatchObject({ name: 'RefusedSettingChanged' });
}

/** Each function on its longest ways. */
const RUNS: Readonly<Record<string, (run: RecordedRun) => Promise<void>>> = {
  'goes-back-from-live': async (run) => {
    await prove(run);
    await race(run, () => run.finish('cutover'));
    await run.finish('cutover');
    await run.vectors.deleteCollection(SOURCE);
    await race(run, () => run.finish('rollback'));
    await run.finish('rollback');
  },
  'is-given-up': async (run) => {
    await run.start();
    await run.finish('preflight', 'backup', 'rebuild', 'abort');
  },
  'is-gone-back-from': async (run) => {
    await prove(run);
    await race(run, () => run.finish('cutover'));
    used.parameters.set(SETTING, run.target);
    await run.vectors.deleteCollection(SOURCE);
    pass(DAY_MS);
    await race(run, run.watch);
    while (await run.watch()) pass(60_000);
  },
  'is-closed': async (run) => {
    await prove(run);
    await run.confirmWhenAsked('cutover', 'open-writes');
    await run.finish('cutover');
    pass(31 * DAY_MS);
    await run.finish('retention', 'retention');
  },
};

describe.skipIf(!hasEngine)('the roles grant what the functions of the migration use', () => {
  const running = createRunning();
  const template = readTemplate('migrating');

  beforeAll(async () => {
    const { endpoint } = await startDatabase(running);
    const client = createLocalClient(endpoint);
    await createTable(client, TABLE);
    client.destroy();
    const remembering = createRemembering({
      client: used.table(createDocumentClient(endpoint)),
      tableName: TABLE,
      clock: () => new Date(time),
    });
    for (const [runId, play] of Object.entries(RUNS)) {
      const run = await createRecordedRun({ runId, remembering, used, pass });
      await play(run).finally(run.close);
    }
  });

  afterAll(() => running.stop());

  it.each(migrationFunctionsOf(template).map(([name]) => name))('%s', (name) => {
    expect(used.of(name)).toEqual(grantedTo(roleOf(template, name)));
  });
});

/** In the words of what is used; logs and secrets are told elsewhere. */
function grantedTo(role: Parameters<typeof statementsOf>[0]): string[] {
  const granted = statementsOf(role).flatMap((statement) =>
    statement.Action.flatMap((action) =>
      placesOf(statement).map((place) => (place ? `${action} ${place}` : [])),
    ),
  );
  return [...new Set(granted.flat())].sort();
}

function placesOf({ Resource, ...rest }: Statement): (string | undefined)[] {
  const hasRunsOnly = JSON.stringify(rest).includes('"@migration","@migration#*"');
  return Resource.map((resource) => {
    const arn = (resource as { 'Fn::Sub'?: string })['Fn::Sub'] ?? '';
    if (arn.includes(':dynamodb:')) return hasRunsOnly ? 'run' : 'ledger';
    if (arn.includes(':s3:')) return arn.endsWith('/*') ? 'object' : 'bucket';
    if (arn.endsWith(`parameter${SETTING}`)) return 'setting';
    return arn.endsWith(`parameter${SETTING}:*`) ? 'setting of a version' : undefined;
  });
}
