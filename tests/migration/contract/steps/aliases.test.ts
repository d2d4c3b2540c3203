// Aliases of the old collection move with the switch if the plan says so. Programs that use an alias then work on the same
// collection as users, in either direction of the switch.
import { describe, expect, it } from 'vitest';
import type { Services } from '../../../../lib/migration/services.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { createServicesKilledBefore, Killed } from '../../support/killable-services.ts';
import {
  createImageCache,
  createMigration,
  type Migration,
  type MigrationImage,
  RUN,
} from '../../support/migration.ts';
import { failureNamed } from '../../support/refused.ts';
import { createAlias } from '../../support/vector-stores.ts';

const ALIASES = ['report-alias', 'search-alias'];

const cacheImage = createImageCache<MigrationImage>();

/** Creates a migration that was copied while the old collection had aliases. */
async function createCopiedWithAliases(): Promise<Migration> {
  return await createMigration({}, await cacheImage([], copyWithAliases));
}

async function copyWithAliases(): Promise<MigrationImage> {
  const migration = await createMigration();
  for (const alias of ALIASES) await createAlias(migration.qdrant.url, alias, SOURCE);
  await migration.start({ movesAliases: true });
  await migration.follow('backup', 'rebuild', 'copy');
  return await migration.image();
}

async function readAliases({ services }: Migration): Promise<Record<string, string>> {
  const listed = await services.vectors.listAliases();
  return Object.fromEntries(
    listed.map(({ alias_name, collection_name }) => [alias_name, collection_name]),
  );
}

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

const allAliasesOn = (collection: string) =>
  Object.fromEntries(ALIASES.map((alias) => [alias, collection]));

/** Makes the backend answer like the old version after the deployment of the new one. */
const oldAnswers = { backend: { isGraphDeprecated: async () => false } };

describe('aliases of the old collection', () => {
  it('are moved with the switch, and back with a rollback', async () => {
    const migration = await createCopiedWithAliases();
    expect(await readAliases(migration)).toEqual(allAliasesOn(SOURCE));
    await migration.finish('cutover');
    expect(await readAliases(migration)).toEqual(allAliasesOn(migration.target));
    await migration.finish('rollback');
    expect(await readAliases(migration)).toEqual(allAliasesOn(SOURCE));
  });

  it('move back after a refused window', async () => {
    const migration = await createCopiedWithAliases();
    const attempt = migration.finish('cutover', {}, oldAnswers);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion'));
    expect(await readAliases(migration)).toEqual(allAliasesOn(migration.target));
    await migration.finish('rollback', { actor: 'machine' });
    expect(await readAliases(migration)).toEqual(allAliasesOn(SOURCE));
  });

  it.each(oneInEvery(2, ['cutover', 'rollback'] as const))(
    'are moved by the next %s after a kill',
    async (step) => {
      const migration = await createCopiedWithAliases();
      if (step === 'rollback') await migration.finish('cutover');
      const killed = createServicesKilledBefore(
        migration.services,
        ({ name }) => name === 'vectors.moveAliases',
      );
      await expect(migration.finish(step, {}, killed)).rejects.toThrow(Killed);
      migration.advanceClock(130_000);
      await migration.finish(step);
      const expected = step === 'cutover' ? migration.target : SOURCE;
      expect(await readAliases(migration)).toEqual(allAliasesOn(expected));
    },
  );

  it('that cannot be moved do not keep writes frozen if no collection is left to return to', async () => {
    const migration = await createCopiedWithAliases();
    const { services, operator } = migration;
    // Killed between the record of the aliases and the change of the setting: users are still on the old version.
    const killed = createServicesKilledBefore(services, ({ name }) => name === 'setting.change');
    await expect(migration.finish('cutover', {}, killed)).rejects.toThrow(Killed);
    await services.vectors.deleteCollection(SOURCE);
    const messages: string[] = [];
    const log: Services['log'] = ({ message }) => messages.push(message);
    const changes = { vectors: { fetchVersion: async () => '2.0.0' }, log };
    for (let minutes = 0; minutes < 90 && (await readPhase(migration)) !== 'copied'; minutes += 1) {
      migration.advanceClock(60_000);
      await migration.finish('rollback', {}, changes).catch((error: unknown) => error);
    }
    expect(operator.actions.at(-1)).toBe('open-writes');
    expect(await readPhase(migration)).toBe('copied');
    expect(messages).toContain(`Move the aliases to ${SOURCE} by hand: writes are opened`);
  });

  itInFull('stay where another program has moved them', async () => {
    const migration = await createCopiedWithAliases();
    const { qdrant, services, target } = migration;
    await migration.finish('cutover');
    await services.vectors.createCollection('elsewhere', {
      vectors: { size: 8, distance: 'Cosine' },
    });
    await createAlias(qdrant.url, 'report-alias', 'elsewhere');
    await createAlias(qdrant.url, 'archive-alias', target);
    await migration.finish('rollback');
    expect(await readAliases(migration)).toEqual({
      'report-alias': 'elsewhere',
      'search-alias': SOURCE,
      'archive-alias': target,
    });
  });

  itInFull('are created again if they were deleted with the new collection', async () => {
    const migration = await createCopiedWithAliases();
    await migration.finish('cutover');
    await migration.services.vectors.deleteCollection(migration.target);
    expect(await readAliases(migration)).toEqual({});
    await migration.finish('rollback', { asItWas: true });
    expect(await readAliases(migration)).toEqual(allAliasesOn(SOURCE));
  });

  itInFull('stay if the plan does not move them', async () => {
    const migration = await createMigration();
    await createAlias(migration.qdrant.url, 'report-alias', SOURCE);
    await migration.start({ accepts: ['aliases'] });
    await migration.follow('backup', 'rebuild', 'copy', 'cutover');
    expect(await readAliases(migration)).toEqual({ 'report-alias': SOURCE });
  });

  itInFull('cannot be moved in a migration in place', async () => {
    const { services } = await createMigration();
    const plan = { runId: RUN, sourceCollection: SOURCE, inPlace: true, movesAliases: true };
    await expect(runPreflight(services, plan)).rejects.toEqual(
      failureNamed('RefusedSetting', 'aliases'),
    );
  });
});
