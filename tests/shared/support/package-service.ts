// Packages the service for the wiring tests, as an operator without an account would. A package is reused until its
// inputs change.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { runServerless } from '../../../local/emulator/emulated-stage.ts';
import { MIGRATING } from '../../../local/emulator/migrating-parameters.ts';
import { createResources, type Resources } from '../../../processes/resources.ts';
import { fetchOnce } from '../../../processes/tools.ts';
import type { Packaged, Stage } from './packaged-template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of each package */
    packagedServices: Readonly<Record<Packaged, string>>;
  }
}

const PROJECT = join(import.meta.dirname, '../../..');

const PACKAGES = 'packages';
const TEMPLATE_INPUTS = ['serverless/**/*.*', '{functions,lib}/**/*.json', '*.{json,yml,ts}'];
const BUNDLE_INPUTS = [...TEMPLATE_INPUTS, '{functions,lib,web}/**/*.*'];
const DAY_MS = 86_400_000;

// No AWS account can be used. The other variables, as if left in a shell, must not get into a package.
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
 * These packages contain templates without bundles.
 */
export default function packageService({ provide }: TestProject) {
  const resources = createResources();
  const { alarmTopicArn } = MIGRATING;
  const prod = packageTemplate(resources, {
    name: 'prod',
    stage: 'prod',
    parameters: { alarmTopicArn },
  });
  const dev = packageTemplate(resources, { name: 'dev', stage: 'dev' });
  const migrating = packageTemplate(resources, {
    name: 'migrating',
    stage: 'prod',
    parameters: MIGRATING,
  });
  provide('packagedServices', {
    prod: prod.folder,
    dev: dev.folder,
    migrating: migrating.folder,
  });
  const packaging = packageAll([prod, dev, migrating]);
  return async () => {
    await resources.stop();
    await packaging;
  };
}

/** Packages stage `prod` with a migration, bundles included, which are the same for all stages. @returns the folder */
export async function packageBundles(): Promise<string> {
  const name = `bundles-${hashInputs(BUNDLE_INPUTS)}`;
  const resources = createResources();
  return await fetchOnce(resources, join(PACKAGES, name), async (draft) => {
    const prod = { stage: 'prod', environment: ENVIRONMENT, resources };
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

function packageTemplate(resources: Resources, { name, stage, parameters }: TemplateSpec): Package {
  const cached = join(PACKAGES, `${name}-${hashInputs(TEMPLATE_INPUTS)}`);
  const folder = join(PROJECT, '.local', cached);
  // Removed before any test looks for the file, because it may be left from an earlier run.
  rmSync(nameFailureFile(folder), { force: true });
  const make = async () =>
    await fetchOnce(resources, cached, async (draft) => {
      await removeOldPackages();
      const environment = { ...ENVIRONMENT, ONLY_TEMPLATE: 'yes' };
      try {
        const command = ['package', '--package', join(draft, name)];
        await runServerless({ stage, environment, resources }, command, parameters);
      } catch (error) {
        await writeFile(nameFailureFile(folder), String(error));
        throw error;
      }
      return join(draft, name);
    });
  return { folder, make };
}

// Packages are made one after the other, because Serverless Framework works in a single folder, `.serverless`.
async function packageAll(packages: readonly Package[]): Promise<void> {
  // A failure is not thrown here: the tests that wait for the package read it from its failure file.
  for (const { make } of packages) await make().catch(() => {});
}

/** Names the file that says why a package could not be made. */
export function nameFailureFile(folder: string): string {
  return `${folder}.failure.txt`;
}

/** Removes packages older than a day: until then another run may still read them. */
async function removeOldPackages(): Promise<void> {
  const folder = join(PROJECT, '.local', PACKAGES);
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > DAY_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Hashes everything that a package depends on. The lock file stands for the installed packages. The names of the functions'
 * files count for every package, because Serverless Framework finds functions by name.
 */
function hashInputs(inputs: readonly string[]): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  hash.update(JSON.stringify(MIGRATING));
  for (const path of globSync('functions/**/*.ts', { cwd: PROJECT }).toSorted()) hash.update(path);
  for (const path of globSync(inputs, { cwd: PROJECT }).toSorted()) {
    hash.update(path).update(readFileSync(join(PROJECT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}
