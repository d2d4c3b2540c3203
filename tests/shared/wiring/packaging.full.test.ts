// Contents of a package, parameters that packaging refuses, and files that it leaves behind. The tests are in one file, because test
// files run in parallel and Serverless Framework works in one folder, `.serverless`.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runServerless } from '../../../local/emulator/emulated-stage.ts';
import { createResources } from '../../../processes/resources.ts';
import { packageBundles } from '../support/package-service.ts';
import {
  type FunctionProperties,
  listApiFunctions,
  listFunctions,
  readTemplateIn,
} from '../support/packaged-template.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const KB = 1024;
const MAX_API_BYTES = 320 * KB;
/** Each module slows down a cold start. A library that is bundled by accident exceeds this number. */
const MAX_API_MODULES = 400;
/** Includes the viewer, compressed: every visit loads it whole. */
const MAX_DOCUMENTATION_BYTES = 768 * KB;
/** Includes the drivers of the graph store and the object store, which the API's functions do not need. */
const MAX_MIGRATION_BYTES = 1152 * KB;

const TEMPLATE_ONLY = { stage: 'dev', environment: { ONLY_TEMPLATE: 'yes' } };
const BUILDS = join(import.meta.dirname, '../../../.esbuild');

const folder = await packageBundles();
const template = readTemplateIn(folder);

/** Contents of a bundle's files by name */
type Bundle = Readonly<Record<string, Uint8Array>>;

function readBundle({ Code }: FunctionProperties): Bundle {
  return unzipSync(readFileSync(join(folder, Code.S3Key.replace(/^.*\//, ''))));
}

/** Lists the sources of a bundle, as paths from the project's root. */
function listSources(bundle: Bundle): string[] {
  const [, map] = Object.entries(bundle).find(([file]) => file.endsWith('.map')) ?? [];
  if (!map) throw new Error('The bundle has no source map');
  const { sources } = JSON.parse(strFromU8(map)) as { sources: string[] };
  return sources.map((source) => source.replace(/^(\.\.\/)+/, ''));
}

/** Loads the unpacked bundle in a fresh process; undici is the slowest of Node's modules to load. */
async function loadBundle(bundle: Bundle, { Handler, Environment }: FunctionProperties) {
  const unpacked = await createTemporaryFolder();
  for (const [name, content] of Object.entries(bundle)) {
    mkdirSync(join(unpacked, dirname(name)), { recursive: true });
    writeFileSync(join(unpacked, name), content);
  }
  const [file, exportName] = Handler.split('.');
  const script = `import('./${file}.mjs').then((bundle) => console.log(JSON.stringify({
    handler: typeof bundle.${exportName},
    undici: process.moduleLoadList.filter((name) => /undici/.test(name)),
  })))`;
  const printed = execFileSync(process.execPath, ['--eval', script], {
    cwd: unpacked,
    env: { ...Environment.Variables, AWS_REGION: 'eu-west-1' },
    encoding: 'utf8',
  });
  return JSON.parse(printed);
}

describe.each(listFunctions(template))('%s', (name, properties) => {
  const bundle = readBundle(properties);
  const file = `functions/${name}.mjs`;

  it('is one bundle and its source map', () => {
    expect(Object.keys(bundle).toSorted()).toEqual([file, `${file}.map`]);
  });

  it('contains its entry point, the library and packages, but nothing local and no test', () => {
    const sources = listSources(bundle);
    expect(sources).toContain(`functions/${name}.ts`);
    const unexpected = sources.filter(
      (source) =>
        source !== `functions/${name}.ts` &&
        !/^(lib|web|serverless\/bundle|node_modules)\//.test(source),
    );
    expect(unexpected).toEqual([]);
  });

  it('is no larger than its limit', () => {
    const maxApiBytes = name === 'service/docs' ? MAX_DOCUMENTATION_BYTES : MAX_API_BYTES;
    const maxBytes = name.startsWith('migration/') ? MAX_MIGRATION_BYTES : maxApiBytes;
    expect(bundle[file]?.byteLength).toBeLessThanOrEqual(maxBytes);
  });

  it('starts', async () => {
    expect(await loadBundle(bundle, properties)).toMatchObject({ handler: 'function' });
  });
});

describe.each(listApiFunctions(template))('%s', (_name, properties) => {
  const bundle = readBundle(properties);

  it('has no more modules than its limit', () => {
    expect(listSources(bundle).length).toBeLessThanOrEqual(MAX_API_MODULES);
  });

  it('finds credentials only in the environment', () => {
    const providers = listSources(bundle).filter((source) => /credential-provider/.test(source));
    expect(providers).toEqual([]);
  });

  it('starts without undici', async () => {
    expect(await loadBundle(bundle, properties)).toMatchObject({ undici: [] });
  });
});

it('packaging refuses every fault of the parameters in one message', async () => {
  const packaged = runServerless(TEMPLATE_ONLY, ['package'], {
    auth: 'open',
    artifactsUrl: 'nonsense',
    monthlyBudgetUsd: '5',
  });
  await expect(packaged).rejects.toThrow(
    /Refused\. auth "open" .*\n.*artifactsUrl "nonsense" .*\n.*monthlyBudgetUsd "5" needs alarmTopicArn/,
  );
});

it("packaging leaves only the package behind, and nothing in the user's temporary folder", async () => {
  const folder = await useTemporaryFolder();
  const environment = { ...TEMPLATE_ONLY.environment, TMPDIR: folder };
  const command = ['package', '--package', join(folder, 'package')];
  await runServerless({ ...TEMPLATE_ONLY, environment }, command);
  expect(await readdir(folder)).toEqual(['package']);
  expect(listBuilds()).toEqual([]);
});

it('packaging that is stopped leaves nothing behind', async () => {
  const folder = await useTemporaryFolder();
  const resources = createResources();
  onTestFinished(resources.stop);
  const packaged = runServerless({ ...TEMPLATE_ONLY, resources }, ['package']);
  const stopped = expect(packaged).rejects.toThrow(/ended by SIG(TERM|KILL)/);
  const hasBegun = () => listBuilds().some((name) => existsSync(join(BUILDS, name, '.build')));
  await vi.waitUntil(hasBegun, { timeout: 600_000, interval: 5 });
  await resources.stop();
  await stopped;
  expect(await readdir(folder)).toEqual([]);
  expect(listBuilds()).toEqual([]);
});

/** Lists the folders in which Serverless Framework works for this process. */
function listBuilds(): string[] {
  return readdirSync(BUILDS).filter((name) => name.startsWith(`local-${process.pid}-`));
}

/** Gives the test its own folder for temporary files. */
async function useTemporaryFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}
