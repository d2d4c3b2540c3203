// Packages the service for the wiring tests, as an operator without an account would; again only when its inputs change.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { runServerless } from '../../../local/emulator/emulated-stage.ts';
import { MIGRATING } from '../../../local/emulator/migrating-parameters.ts';
import { createRunning, type Running } from '../../../processes/running.ts';
import { fetchOnce } from '../../../processes/tools.ts';
import type { Packaged, Stage } from './packaged-template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of each packaged service. */
    packagedServices: Readonly<Record<Packaged, string>>;
  }
}

const PROJECT = join(import.meta.dirname, '../../..');

const PACKAGES = 'packages';
const INPUTS_OF_TEMPLATE = ['serverless/**/*.*', '{functions,lib}/**/*.json', '*.{json,yml,ts}'];
const INPUTS_OF_BUNDLES = [...INPUTS_OF_TEMPLATE, '{functions,lib,web}/**/*.*'];
const DAY_MS = 86_400_000;

// No account; and, as left in a shell, what must not find its way into a package.
const ENVIRONMENT = {
  AWS_EC2_METADATA_DISABLED: 'true',
  DYNAMODB_ENDPOINT: 'http://left-in-the-shell:8000',
  TABLE_NAME: 'left-in-the-shell',
  LEDGER_ID: 'left-in-the-shell',
  TIME_ZONE: 'Europe/Berlin',
  ALLOWED_ORIGINS: 'https://left-in-the-shell.example',
};

/**
 * Vitest's global setup of the wiring tests, which wait for the templates (packages-ready.ts) while other tests run.
 * In these packages there are no bundles.
 */
export default function packageService({ provide }: TestProject) {
  const running = createRunning();
  const { alarmTopicArn } = MIGRATING;
  const prod = packageTemplate(running, {
    name: 'prod',
    stage: 'prod',
    parameters: { alarmTopicArn },
  });
  const dev = packageTemplate(running, { name: 'dev', stage: 'dev' });
  const migrating = packageTemplate(running, {
    name: 'migrating',
    stage: 'prod',
    parameters: MIGRATING,
  });
  provide('packagedServices', {
    prod: prod.folder,
    dev: dev.folder,
    migrating: migrating.folder,
  });
  const made = makeAll([prod, dev, migrating]);
  return async () => {
    await running.stop();
    await made;
  };
}

/** Folder of stage `prod` with a migration, as it is deployed. All stages have the same bundles. */
export async function packageBundles(): Promise<string> {
  const name = `bundles-${hashInputs(INPUTS_OF_BUNDLES)}`;
  const running = createRunning();
  return await fetchOnce(running, join(PACKAGES, name), async (draft) => {
    const prod = { stage: 'prod', environment: ENVIRONMENT, running };
    await runServerless(prod, ['package', '--package', join(draft, name)], MIGRATING);
    return join(draft, name);
  });
}

interface Package {
  readonly folder: string;
  readonly make: () => Promise<unknown>;
}

interface TemplateSpec {
  readonly name: Packaged;
  readonly stage: Stage;
  readonly parameters?: Readonly<Record<string, string>>;
}

function packageTemplate(running: Running, { name, stage, parameters }: TemplateSpec): Package {
  const cached = join(PACKAGES, `${name}-${hashInputs(INPUTS_OF_TEMPLATE)}`);
  const folder = join(PROJECT, '.local', cached);
  // Before any test looks for it: it may be an earlier run's.
  rmSync(failureFile(folder), { force: true });
  const make = async () =>
    await fetchOnce(running, cached, async (draft) => {
      await removeOldPackages();
      const environment = { ...ENVIRONMENT, ONLY_TEMPLATE: 'yes' };
      try {
        const command = ['package', '--package', join(draft, name)];
        await runServerless({ stage, environment, running }, command, parameters);
      } catch (error) {
        await writeFile(failureFile(folder), String(error));
        throw error;
      }
      return join(draft, name);
    });
  return { folder, make };
}

// One after the other: the packager keeps its work in one folder, `.serverless`.
async function makeAll(packages: readonly Package[]): Promise<void> {
  // The tests that wait for a package throw why there is none.
  for (const { make } of packages) await make().catch(() => {});
}

/** File that says why there is no such package. */
export function failureFile(folder: string): string {
  return `${folder}.failure.txt`;
}

/** Other runs may be reading packages of other inputs, but not after a day. */
async function removeOldPackages(): Promise<void> {
  const folder = join(PROJECT, '.local', PACKAGES);
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > DAY_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** The lock file stands for the installed packages; a function is found by its file's name. */
function hashInputs(inputs: readonly string[]): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  hash.update(JSON.stringify(MIGRATING));
  for (const path of globSync('functions/**/*.ts', { cwd: PROJECT }).toSorted()) hash.update(path);
  for (const path of globSync(inputs, { cwd: PROJECT }).toSorted()) {
    hash.update(path).update(readFileSync(join(PROJECT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}
