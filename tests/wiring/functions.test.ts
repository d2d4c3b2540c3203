// Every function is packaged as one small bundle that starts, on the runtime and with the limits
// that were chosen for it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  bundleOf,
  type FunctionProperties,
  functionsOf,
  readTemplate,
  STAGES,
  sourcesOf,
} from '../support/packaged-template.ts';

const ROOT = join(import.meta.dirname, '../..');
const LARGEST_BUNDLE = 256 * 1024;

describe.each(STAGES)('functions of stage %s', (stage) => {
  const functions = functionsOf(readTemplate(stage));

  it('are one for each endpoint, one for preflights and one for everything else', () => {
    expect(functions).toHaveLength(12);
  });

  describe.each(functions)('%s', (name, properties) => {
    const bundle = bundleOf(stage, properties);

    it('is a file of the project', () => {
      expect(existsSync(join(ROOT, `functions/${name}.ts`))).toBe(true);
    });

    it('runs on Node 24 and arm64, within limits of its own, traced', () => {
      expect(properties).toMatchObject({
        FunctionName: expect.stringContaining(`finance-ledger-${stage}-`),
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: 512,
        Timeout: 20,
        TracingConfig: { Mode: 'Active' },
      });
    });

    it("knows the stage's table, and no other database", () => {
      expect(properties.Environment.Variables).toEqual({
        TABLE_NAME: `finance-ledger-${stage}`,
        LEDGER_ID: 'default',
        TIME_ZONE: 'UTC',
        NODE_OPTIONS: '--enable-source-maps',
      });
    });

    it('is one bundle and its source map', () => {
      const file = `functions/${name}.mjs`;
      expect(Object.keys(bundle).sort()).toEqual([file, `${file}.map`]);
    });

    it('is at most 256 KB', () => {
      expect(bundle[`functions/${name}.mjs`]?.byteLength).toBeLessThanOrEqual(LARGEST_BUNDLE);
    });

    it('holds its own entry point, the library and packages, nothing local and no test', () => {
      const sources = sourcesOf(bundle);
      expect(sources).toContain(`functions/${name}.ts`);
      const strangers = sources.filter(
        (source) => source !== `functions/${name}.ts` && !/^(lib|node_modules)\//.test(source),
      );
      expect(strangers).toEqual([]);
    });

    it('finds credentials in the environment alone', () => {
      const providers = sourcesOf(bundle).filter((source) => /credential-provider/.test(source));
      expect(providers).toEqual([]);
    });
  });
});

describe('bundles started as they are deployed', { timeout: 30_000 }, () => {
  it.each(functionsOf(readTemplate('prod')))('%s', (_name, properties) => {
    const started = start(bundleOf('prod', properties), properties);
    expect(started).toEqual({ handler: 'function', undici: [] });
  });
});

/** What a fresh process finds in the unpacked bundle, and what it loaded of the slowest part of Node. */
function start(
  bundle: Record<string, Uint8Array>,
  { Handler, Environment }: FunctionProperties,
): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(bundle)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const [file, exportName] = Handler.split('.');
  const script = `import('./${file}.mjs').then((bundle) => console.log(JSON.stringify({
    handler: typeof bundle.${exportName},
    undici: process.moduleLoadList.filter((name) => /undici/.test(name)),
  })))`;
  const printed = execFileSync(process.execPath, ['--eval', script], {
    cwd: folder,
    env: { ...Environment.Variables, AWS_REGION: 'eu-west-1' },
    encoding: 'utf8',
  });
  return JSON.parse(printed);
}
