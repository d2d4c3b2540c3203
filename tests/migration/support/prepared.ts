// Migrations at a given point of the runbook. Each point is reached once per process and set of options; every test
// gets a copy of its own.
import {
  createMigration,
  type Migration,
  type MigrationImage,
  type MigrationOptions,
} from './migration.ts';

type Plan = Readonly<Record<string, unknown>>;

/** Steps from each point to the next, in the order of the runbook */
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

export type Point = keyof typeof RUNBOOK;

const POINTS = Object.keys(RUNBOOK) as Point[];

const images = new Map<string, Promise<MigrationImage>>();

/** Creates a migration that has just reached the point, for one test alone. */
export async function createMigrationAt(
  point: Point,
  options: MigrationOptions = {},
  plan: Plan = {},
): Promise<Migration> {
  return await createMigration(options, await buildImage(point, options, plan));
}

function buildImage(point: Point, options: MigrationOptions, plan: Plan): Promise<MigrationImage> {
  // JSON would drop an undefined option, which differs from an absent one.
  const key = JSON.stringify([point, options, plan], (_, value) => value ?? String(value));
  const image = images.get(key) ?? prepare(point, options, plan);
  images.set(key, image);
  return image;
}

async function prepare(
  point: Point,
  options: MigrationOptions,
  plan: Plan,
): Promise<MigrationImage> {
  const before = POINTS[POINTS.indexOf(point) - 1];
  const migration = before
    ? await createMigrationAt(before, options, plan)
    : await createMigration(options);
  await RUNBOOK[point](migration, plan);
  return await migration.image();
}
