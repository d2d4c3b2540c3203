// An operator who types `migrate run`; the functions and the sandbox are in this process, on the test's clock.

import type { Invoker } from '../../../cli/migration/migrate/invoker.ts';
import { createLocalInvoker } from '../../../cli/migration/migrate/local-invoker.ts';
import { manualHooks } from '../../../lib/migration/adapters/webhook.ts';
import { SOURCE, type WorldOptions } from '../../../sandbox/world.ts';
import { changeServices, type ServiceChanges } from './changed-services.ts';
import { createMigration, type Migration, RUN } from './migration.ts';
import { type TypedOptions, typeCommand } from './typed-command.ts';

export const FROM_THE_START = `run --run ${RUN} --source ${SOURCE} --free-gb 1`;

export async function createRunningOperator(
  worldOptions: Partial<WorldOptions> = {},
  hasWebhook = true,
  changes: (migration: Migration) => ServiceChanges = () => ({}),
) {
  const migration = await createMigration(worldOptions);
  const { clock, letTimePass, operator } = migration;
  const hooks = hasWebhook ? operator.hooks : manualHooks;
  const services = changeServices({ ...migration.services, hooks }, changes(migration));
  const invoker = createLocalInvoker({
    where: 'table of the test',
    records: async () => services,
    services: async () => services,
  });
  const time = { now: () => clock().getTime(), sleep: letTimePass };
  const type = (commandLine: string, options: TypedOptions = {}, target: Invoker = invoker) =>
    typeCommand(target, commandLine, { ...options, time: { ...time, ...options.time } });
  const phase = async () => (await migration.runs.read(RUN)).phase;
  return { ...migration, invoker, type, phase };
}
