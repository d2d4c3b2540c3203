// A packaged bundle in a process of its own, as Lambda would start it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FunctionProperties } from './packaged-template.ts';

/** What a fresh process finds in the unpacked bundle, and what it loaded of the slowest part of Node. */
export function startBundle(
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
