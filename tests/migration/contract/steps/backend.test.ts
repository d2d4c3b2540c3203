// Backends whose paths differ from those of mem0, or that lack endpoints. One list names every missing endpoint. The operator can
// accept some by name, and the migration then works without them.
import { describe, expect, it } from 'vitest';
import { createHttpMemoryBackend } from '../../../../lib/migration/adapters/http-memory-backend.ts';
import { createSecret } from '../../../../lib/migration/adapters/secrets.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { changeServices } from '../../support/changed-services.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

const MISSING = '';
const WITHOUT_OPTIONAL = {
  '/health': MISSING,
  '/chat': MISSING,
  [`/stats/__migration_test_${RUN}`]: MISSING,
};
const USER = `__migration_test_${RUN}`;
const ACCEPTED = ['no-health', 'no-chat', 'no-stats'];

async function checkBackend({ services }: Migration, input: object = {}) {
  const payload = { runId: RUN, sourceCollection: SOURCE, ...input };
  const { prerequisites } = await runPreflight(services, payload);
  const check = prerequisites.find(({ name }) => name === 'Memory backend');
  return { reasons: check?.problems.map(({ why }) => why), ...check };
}

describe('the preflight', () => {
  it('lists all missing endpoints of the backend at once', async () => {
    const paths = { ...WITHOUT_OPTIONAL, '/memories': MISSING, '/memories/search': MISSING };
    const migration = await createMigration({ backend: { paths } });
    const { reasons, problems } = await checkBackend(migration);
    expect(reasons).toEqual([
      'It has no POST /memories and no POST /memories/search.',
      'It has no GET /health.',
      'It has no POST /chat.',
      'It has no GET /stats/{user}.',
    ]);
    expect(problems?.map(({ remedy }) => remedy).join()).toMatch(
      /MEMORY_BACKEND_PATHS.*--accept no-health.*--accept no-chat.*--accept no-stats/,
    );
  });

  it('says that it cannot detect missing endpoints if every path gets the same status', async () => {
    const paths = { '/chat': MISSING, '/health': MISSING };
    const migration = await createMigration({ backend: { paths, validatesFirst: true } });
    const { reasons, detail, facts } = await checkBackend(migration);
    expect(reasons).toEqual(['It has no GET /health.']);
    const undetermined = ['POST /memories', 'POST /memories/search', 'POST /chat'];
    expect(facts).toMatchObject({ missing: ['GET /health'], undetermined });
    expect(detail).toContain('POST /chat answer 422, like an unknown path');
  });

  it('accepts missing endpoints by name, and says what replaces them', async () => {
    const migration = await createMigration({ backend: { paths: WITHOUT_OPTIONAL } });
    const { problems, detail } = await checkBackend(migration, { accepts: ACCEPTED });
    expect(problems).toEqual([]);
    expect(detail).toMatch(/without POST \/chat: the smoke test writes, searches and reads/);
  });

  it('names the variable with the wrong path', async () => {
    const migration = await createMigration();
    const backend = createHttpMemoryBackend({
      url: `${migration.backend.url}/api/v1`,
      apiKey: createSecret('key-of-the-test-user'),
      timeoutMs: 10_000,
    });
    const failure = backend.findMissing(USER).catch((error) => error);
    const { services } = migration;
    const changedMigration = { ...migration, services: changeServices(services, { backend }) };
    const { reasons, problems } = await checkBackend(changedMigration);
    expect([await failure, reasons, problems?.[0]?.remedy]).toEqual([
      expect.anything(),
      [expect.stringMatching(/All of its endpoints answer 404/)],
      expect.stringContaining('MEMORY_BACKEND_URL'),
    ]);
  });

  it('contacts only the backend', async () => {
    const migration = await createMigration();
    const refuseCalls = () => Promise.reject(new Error('Only the backend may be contacted'));
    const services = changeServices(migration.services, {
      vectors: {
        fetchVersion: refuseCalls,
        listCollections: refuseCalls,
        readCollectionInfo: refuseCalls,
        scroll: refuseCalls,
      },
      setting: { read: refuseCalls },
      runs: { read: refuseCalls },
    });
    const { prerequisites } = await runPreflight(services, { runId: RUN, backendOnly: true });
    expect(prerequisites).toMatchObject([{ name: 'Memory backend', problems: [] }]);
    const attempt = runPreflight(services, { runId: RUN, backendOnly: true, execute: true });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSetting'));
  });

  it.each([{ chatWrites: true }, { chatWrites: true, isLenient: true }])(
    'writes nothing to a backend with %j',
    async (backend) => {
      const migration = await createMigration({ backend });
      const { problems } = await checkBackend(migration);
      expect([problems, migration.backend.writes()]).toEqual([[], 0]);
    },
  );
});

it('goes live and back on a backend without health, chat and counts', async () => {
  const migration = await createMigrationAt(
    'copied',
    { backend: { paths: WITHOUT_OPTIONAL } },
    { accepts: ACCEPTED },
  );
  await migration.finish('cutover');
  await migration.finish('rollback');
  expect((await migration.runs.read(RUN)).phase).toBe('copied');
  expect(await migration.services.setting.read()).toBe(SOURCE);
});

it('finds the endpoints of a backend that has them under other paths', async () => {
  const paths = { '/memories/search': '/search', '/health': '/healthz' };
  const migration = await createMigration({ backend: { paths } });
  const mapped = createHttpMemoryBackend({
    url: migration.backend.url,
    apiKey: createSecret('key-of-the-test-user'),
    timeoutMs: 10_000,
    paths: { search: '/search', health: '/healthz' },
  });
  expect(await mapped.findMissing(USER)).toEqual({ missing: [], undetermined: [] });
  await mapped.health();
  expect(await mapped.search(USER, 'Who plays the cello?')).toBe(0);
});
