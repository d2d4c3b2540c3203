// Migrations that have reached a milestone of the runbook. Each milestone is reached once per process and set of options;
// every test gets its own copy.
import {
  createImageCache,
  createMigration,
  type Migration,
  type MigrationImage,
  type MigrationOptions,
} from './migration.ts';

type Plan = Readonly<Record<string, unknown>>;

/** Steps from each milestone to the next, in the order of the runbook */
const RUNBOOK = {
  checked: (migration: Migration, plan: Plan) => migration.start(plan),
  'backed-up': (migration: Migration) => migration.follow('backup'),
  rebuilt: (migration: Migration) => migration.follow('rebuild'),
  copied: (migration: Migration) => migration.follow('copy'),
  frozen: (migration: Migration) => migration.runUntilStage('frozen'),
  'frozen-and-backed-up': (migration: Migration) => migration.runUntilStage('backed-up'),
  equal: (migration: Migration) => migration.runUntilStage('equal'),
  live: (migration: Migration) => migration.follow('cutover'),
};

export type Milestone = keyof typeof RUNBOOK;

const MILESTONES = Object.keys(RUNBOOK) as Milestone[];

const cacheImage = createImageCache<MigrationImage>();

/** Creates a migration that has just reached the milestone. */
export async function createMigrationAt(
  milestone: Milestone,
  options: MigrationOptions = {},
  plan: Plan = {},
): Promise<Migration> {
  const image = await cacheImage([milestone, options, plan], () =>
    prepare(milestone, options, plan),
  );
  return await createMigration(options, image);
}

async function prepare(
  milestone: Milestone,
  options: MigrationOptions,
  plan: Plan,
): Promise<MigrationImage> {
  const previous = MILESTONES[MILESTONES.indexOf(milestone) - 1];
  const migration = previous
    ? await createMigrationAt(previous, options, plan)
    : await createMigration(options);
  await RUNBOOK[milestone](migration, plan);
  return await migration.image();
}
