// `npm run restore-graph` restores a run's dump into an empty graph, and refuses any other graph.
import { describe, expect, it } from 'vitest';
import { computeFingerprint } from '../../../cli/migration/restore-graph/fingerprint.ts';
import { chooseExitCode, formatOutcome } from '../../../cli/migration/restore-graph/output.ts';
import { runCommand as runRestore } from '../../../cli/migration/restore-graph/run-command.ts';
import { digestDump, listDumpKeys, readDumpManifest } from '../../../lib/migration/graph/dump.ts';
import { writeJson } from '../../../lib/migration/ports/artifacts.ts';
import { createSandboxGraph, type SandboxGraph } from '../../../sandbox/graph.ts';
import { runCommand } from '../../shared/support/command.ts';
import { RUN } from '../support/migration.ts';
import { createMigrationAt } from '../support/prepared.ts';

/** Creates a run that has backed up twice, with one more city in the second backup. */
async function backUpTwice() {
  const migration = await createMigrationAt('backed-up');
  const { graph, services } = migration;
  migration.advanceClock(60_000);
  graph.addNode({ labels: ['city'], properties: { name: 'york' } });
  await migration.finish('backup');
  const target = createSandboxGraph();
  return { graph, target, parts: { artifacts: services.artifacts, target } };
}

async function listDumps({ parts }: Awaited<ReturnType<typeof backUpTwice>>) {
  const outcome = await runRestore({ run: RUN }, parts);
  if (!('dumps' in outcome)) throw new Error('The command listed no dumps');
  return outcome.dumps;
}

async function findLatest(run: Awaited<ReturnType<typeof backUpTwice>>) {
  const [latest] = await listDumps(run);
  if (!latest) throw new Error('There is no dump');
  return latest.dump;
}

const countNodes = async (graph: SandboxGraph) => (await graph.readSize()).nodes;

describe('the dumps of a run', () => {
  it('are listed latest first, without the unfinished ones', async () => {
    const run = await backUpTwice();
    const { artifacts } = run.parts;
    const dumps = await listDumps(run);
    expect(dumps.map(({ nodes }) => nodes)).toEqual([3, 2]);
    expect(formatOutcome({ dumps })).toMatch(/^run-a\/graph-\d+ {2}of .+Z, nodes 3, .+\nrun-a\//);
    await artifacts.delete(`${dumps[0]?.dump}/manifest.json`);
    expect(await listDumps(run)).toEqual(dumps.slice(1));
  });

  it('are reported as missing if the run has none', async () => {
    const { parts } = await backUpTwice();
    const outcome = await runRestore({ run: 'other-run' }, parts);
    expect(formatOutcome(outcome)).toBe('There is no finished dump of that run.');
  });
});

describe('a dump', () => {
  it('is read completely by a dry run, which leaves the graph unchanged', async () => {
    const run = await backUpTwice();
    const options = { dump: await findLatest(run), executes: false };
    expect(formatOutcome(await runRestore(options, run.parts))).toMatch(
      /nodes 3.+unchanged since it was dumped\nDigest .+\nConstraints and indexes:\n {2}CREATE LOOKUP .+\nThe graph is empty and can be restored into\.\nA dry run/,
    );
    expect(await countNodes(run.target)).toBe(0);
    run.target.addNode({ labels: ['city'], properties: {} });
    expect(formatOutcome(await runRestore(options, run.parts))).toContain(
      'has 1 node: only an empty',
    );
  });

  it('restores the same graph, and changes nothing if it is restored again', async () => {
    const run = await backUpTwice();
    const options = { dump: await findLatest(run), executes: true };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const outcome = await runRestore(options, run.parts);
      expect(chooseExitCode(outcome)).toBe(0);
      expect(formatOutcome(outcome)).toMatch(/: restored, and equal to its dump$/);
      expect(await computeFingerprint(run.target)).toEqual(await computeFingerprint(run.graph));
    }
  });

  it('is reported with every difference between it and the restored graph', async () => {
    const run = await backUpTwice();
    const forgetful = {
      ...run.target,
      restoreNodes: async (batch: Parameters<typeof run.target.restoreNodes>[0]) =>
        await run.target.restoreNodes(
          batch.map((node) => (node.properties.name === 'york' ? { ...node, labels: [] } : node)),
        ),
    };
    const options = { dump: await findLatest(run), executes: true };
    const outcome = await runRestore(options, { ...run.parts, target: forgetful });
    expect(chooseExitCode(outcome)).toBe(1);
    expect(formatOutcome(outcome)).toMatch(
      /differs from its dump\n(.+\n)*.*nodesPerLabel city: 1 instead/,
    );
  });
});

describe('a dump that another program wrote', () => {
  /** Replaces the schema of the latest dump, and updates the manifest to match. */
  async function replaceSchema(statement: string) {
    const run = await backUpTwice();
    const { artifacts } = run.parts;
    const dump = await findLatest(run);
    const keys = listDumpKeys(dump);
    const rules = [{ name: 'a', type: 'RANGE', statement }];
    const { sha256, bytes } = await writeJson(artifacts, keys.schema, rules);
    const manifest = await readDumpManifest(artifacts, dump);
    const schema = { key: keys.schema, bytes, sha256 };
    await writeJson(artifacts, keys.manifest, {
      ...manifest,
      files: { ...manifest.files, schema },
    });
    return { ...run, dump };
  }

  it.each([false, true])(
    'cannot run arbitrary statements (with --execute: %s)',
    async (executes) => {
      const { parts, dump, target } = await replaceSchema('MATCH (n) DETACH DELETE n');
      const refused = expect.objectContaining({ name: 'RefusedSnapshot' });
      await expect(runRestore({ dump, executes }, parts)).rejects.toEqual(refused);
      expect(await countNodes(target)).toBe(0);
    },
  );

  it('is shown by the dry run with its statements and digest, and refused if the digest differs', async () => {
    const statement = 'CREATE RANGE INDEX `a` FOR (n:`city`) ON (n.`name`)';
    const { parts, dump } = await replaceSchema(statement);
    const outcome = await runRestore({ dump, executes: false }, parts);
    expect(formatOutcome(outcome)).toContain(`Constraints and indexes:\n  ${statement}\n`);
    const digest = await digestDump(parts.artifacts, dump);
    expect(formatOutcome(outcome)).toContain(`Digest of the dump: ${digest}\n`);
    await expect(runRestore({ dump, executes: true, digest }, parts)).resolves.toBeDefined();
    const otherDigest = '0'.repeat(64);
    await expect(runRestore({ dump, executes: true, digest: otherDigest }, parts)).rejects.toEqual(
      expect.objectContaining({ name: 'RefusedMissingArtifact' }),
    );
  });
});

it('the record of a run contains the digest of its dump', async () => {
  const migration = await createMigrationAt('backed-up');
  const { artifacts } = migration.services;
  const outcome = await runRestore({ run: RUN }, { artifacts, target: createSandboxGraph() });
  const dump = ('dumps' in outcome && outcome.dumps[0]?.dump) || '';
  expect((await migration.runs.read(RUN)).evidence['backup-manifest']?.facts).toMatchObject({
    graph: 'exact',
    graphDigest: await digestDump(artifacts, dump),
  });
});

describe('the command restore-graph', () => {
  const restore = (...args: string[]) =>
    runCommand('cli/migration/restore-graph/restore-graph.ts', args);

  it.each([
    ['neither a run nor a dump', [], 'either --run'],
    ['a run and a dump', ['--run', RUN, '--dump', 'a/graph-1'], 'either --run'],
    ['a run with --execute', ['--run', RUN, '--execute'], 'either --run'],
    ['a path', ['--dump', '/etc/passwd'], 'Invalid --dump'],
    ['an unknown option', ['--force'], "'--force'"],
  ])('exits with code 2 for %s', async (_, args, message) => {
    const { code, stderr } = await restore(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\nAdd --help to see the options\.\n$/);
    expect(stderr).toContain(message);
  });

  it('names all missing environment variables', async () => {
    const { code, stderr } = await restore('--run', RUN);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^RefusedSetting: ARTIFACTS_URL is not set.+NEO4J_URL is not set.+NEO4J_PASSWORD is not set/,
    );
  });
});
