// The packaged CloudFormation template, and the files that go with each of its functions.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { inject } from 'vitest';

export type Stage = 'dev' | 'prod';
export const STAGES: readonly Stage[] = ['dev', 'prod'];
/** Also: stage `prod` with the parameters of a migration. */
export type Packaged = Stage | 'migrating';

export interface Resource<Properties = Record<string, unknown>> {
  readonly Type: string;
  readonly Properties: Properties;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface FunctionProperties {
  readonly Handler: string;
  readonly Role: unknown;
  readonly Code: { readonly S3Key: string };
  readonly Environment: { readonly Variables: Record<string, string> };
  readonly [name: string]: unknown;
}

export interface Template {
  readonly Resources: Readonly<Record<string, Resource<unknown>>>;
  readonly Outputs: Readonly<Record<string, unknown>>;
}

export function readTemplate(stage: Packaged): Template {
  const file = join(packageFolder(stage), 'cloudformation-template-update-stack.json');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Resources of one type by their logical names. */
export function resourcesOf<Properties = Record<string, unknown>>(
  template: Template,
  type: string,
): [name: string, resource: Resource<Properties>][] {
  return Object.entries(template.Resources).filter(
    (entry): entry is [string, Resource<Properties>] => entry[1].Type === type,
  );
}

/** The only resource of its type. */
export function theOnly<Properties = Record<string, unknown>>(
  template: Template,
  type: string,
): Resource<Properties> {
  const [first, ...others] = resourcesOf<Properties>(template, type);
  if (!first || others.length > 0) throw new Error(`There is not exactly one ${type}`);
  return first[1];
}

/** Functions by the entry point they are named for, such as `transactions/list`. */
export function functionsOf(template: Template): [name: string, FunctionProperties][] {
  return resourcesOf<FunctionProperties>(template, 'AWS::Lambda::Function').map(
    ([, { Properties }]) => [entryPoint(Properties.Handler), Properties],
  );
}

/** Those behind the gateway; a function is one of these or of the migration's. */
export function apiFunctionsOf(template: Template): [name: string, FunctionProperties][] {
  return functionsOf(template).filter(([name]) => !isOfMigration(name));
}

export function migrationFunctionsOf(template: Template): [name: string, FunctionProperties][] {
  return functionsOf(template).filter(([name]) => isOfMigration(name));
}

function isOfMigration(name: string): boolean {
  return name.startsWith('migration/');
}

/** `functions/transactions/list.handler` -> `transactions/list` */
export function entryPoint(handler: string): string {
  return handler.replace(/^functions\//, '').replace(/\.handler$/, '');
}

/** What is deployed for a function of stage `prod`: file names and contents. All stages have the same bundles. */
export function bundleOf({ Code }: FunctionProperties): Record<string, Uint8Array> {
  const archive = Code.S3Key.replace(/^.*\//, '');
  return unzipSync(readFileSync(join(packageFolder('prod'), archive)));
}

/** The sources that a bundle was made of, as paths from the project's root. */
export function sourcesOf(bundle: Record<string, Uint8Array>): string[] {
  const [name, map] = Object.entries(bundle).find(([file]) => file.endsWith('.map')) ?? [];
  if (!name || !map) throw new Error('The bundle has no source map');
  const { sources } = JSON.parse(strFromU8(map)) as { sources: string[] };
  return sources.map((source) => source.replace(/^(\.\.\/)+/, ''));
}

function packageFolder(stage: Packaged): string {
  const folders = inject('packagedServices');
  if (!folders) throw new Error('tests/support/package-service.ts has to be the global setup');
  return folders[stage];
}
