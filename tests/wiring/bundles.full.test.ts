// Every function is packaged as one small bundle, which starts in a process of its own as Lambda would start it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageBundles } from '../support/package-service.ts';
import {
  apiFunctionsOf,
  type FunctionProperties,
  migrationFunctionsOf,
  readTemplateIn,
} from '../support/packaged-template.ts';

const KB = 1024;
const OF_API = 256 * KB;
/** With the viewer, of which every visit loads all. */
const OF_DOCUMENTATION = 3 * 1024 * KB;
/** Drivers of a graph store and of an object store; the API's functions have neither. */
const OF_MIGRATION = 1280 * KB;

const folder = await packageBundles();
const template = readTemplateIn(folder);

/** File names and contents. */
type Bundle = Readonly<Record<string, Uint8Array>>;

function bundleOf({ Code }: FunctionProperties): Bundle {
  return unzipSync(readFileSync(join(folder, Code.S3Key.replace(/^.*\//, ''))));
}

/** The sources that a bundle was made of, as paths from the project's root. */
function sourcesOf(bundle: Bundle): string[] {
  const [, map] = Object.entries(bundle).find(([file]) => file.endsWith('.map')) ?? [];
  if (!map) throw new Error('The bundle has no source map');
  const { sources } = JSON.parse(strFromU8(map)) as { sources: string[] };
  return sources.map((source) => source.replace(/^(\.\.\/)+/, ''));
}

/** What a fresh process finds in the unpacked bundle, and what it loaded of the slowest part of Node. */
function start(bundle: Bundle, { Handler, Environment }: FunctionProperties): unknown {
  const unpacked = mkdtempSync(join(tmpdir(), 'ledger-bundle-'));
  onTestFinished(() => rmSync(unpacked, { recursive: true, force: true }));
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

describe.each([...apiFunctionsOf(template), ...migrationFunctionsOf(template)])(
  '%s',
  (name, properties) => {
    const bundle = bundleOf(properties);
    const file = `functions/${name}.mjs`;

    it('is one bundle and its source map', () => {
      expect(Object.keys(bundle).toSorted()).toEqual([file, `${file}.map`]);
    });

    it('holds its own entry point, the library and packages, nothing local and no test', () => {
      const sources = sourcesOf(bundle);
      expect(sources).toContain(`functions/${name}.ts`);
      const strangers = sources.filter(
        (source) =>
          source !== `functions/${name}.ts` && !/^(lib|bundle|node_modules)\//.test(source),
      );
      expect(strangers).toEqual([]);
    });

    it('is no larger than it may be', () => {
      const ofApi = name === 'api/docs' ? OF_DOCUMENTATION : OF_API;
      const largest = name.startsWith('migration/') ? OF_MIGRATION : ofApi;
      expect(bundle[file]?.byteLength).toBeLessThanOrEqual(largest);
    });

    it('starts', () => {
      expect(start(bundle, properties)).toMatchObject({ handler: 'function' });
    });
  },
);

describe.each(apiFunctionsOf(template))('%s', (_name, properties) => {
  const bundle = bundleOf(properties);

  it('finds credentials in the environment alone', () => {
    const providers = sourcesOf(bundle).filter((source) => /credential-provider/.test(source));
    expect(providers).toEqual([]);
  });

  it('starts without the slowest part of Node', () => {
    expect(start(bundle, properties)).toMatchObject({ undici: [] });
  });
});
