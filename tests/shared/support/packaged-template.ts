// Reads the packaged CloudFormation template and its resources.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

export type Stage = 'dev' | 'prod';
export const STAGES: readonly Stage[] = ['dev', 'prod'];
/** `migrating` is stage `prod` with the parameters of a migration. */
export type Packaged = Stage | 'migrating';

export interface Resource<Properties = Record<string, unknown>> {
  readonly Type: string;
  readonly Properties: Properties;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: string | readonly string[];
}

export interface FunctionProperties {
  readonly Handler: string;
  readonly Role: unknown;
  readonly Code: { readonly S3Key: string };
  readonly Environment: { readonly Variables: Record<string, string> };
  readonly [name: string]: unknown;
}

export interface Template {
  readonly Metadata: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, Resource<unknown>>>;
  readonly Outputs: Readonly<Record<string, unknown>>;
}

export function readTemplate(stage: Packaged): Template {
  return readTemplateIn(findFolder(stage));
}

/** serverless.yml of a stage, with everything resolved. */
export function readService(stage: Packaged) {
  const file = join(findFolder(stage), 'serverless-state.json');
  return JSON.parse(readFileSync(file, 'utf8')).service;
}

function findFolder(stage: Packaged): string {
  const folders = inject('packagedServices');
  if (!folders)
    throw new Error('tests/shared/support/package-service.ts has to be the global setup');
  return folders[stage];
}

export function readTemplateIn(packageFolder: string): Template {
  const file = join(packageFolder, 'cloudformation-template-update-stack.json');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Resources of one type by their logical names. */
export function listResources<Properties = Record<string, unknown>>(
  template: Template,
  type: string,
): [name: string, resource: Resource<Properties>][] {
  return Object.entries(template.Resources).filter(
    (entry): entry is [string, Resource<Properties>] => entry[1].Type === type,
  );
}

/** The only resource of its type. */
export function getOnlyResource<Properties = Record<string, unknown>>(
  template: Template,
  type: string,
): Resource<Properties> {
  const [first, ...others] = listResources<Properties>(template, type);
  if (!first || others.length > 0) throw new Error(`There is not exactly one ${type}`);
  return first[1];
}

/** Functions by the entry point they are named for, such as `transactions/list`. */
export function listFunctions(template: Template): [name: string, FunctionProperties][] {
  return listResources<FunctionProperties>(template, 'AWS::Lambda::Function').map(
    ([, { Properties }]) => [toEntryPoint(Properties.Handler), Properties],
  );
}

/** Lists the functions behind the gateway. */
export function listApiFunctions(template: Template): [name: string, FunctionProperties][] {
  return listFunctions(template).filter(([name]) => !/^(migration|canary)\//.test(name));
}

export function listMigrationFunctions(template: Template): [name: string, FunctionProperties][] {
  return listFunctions(template).filter(([name]) => name.startsWith('migration/'));
}

/** Finds the logical name of the function that an integration or a permission of the gateway names, directly or by an alias. */
export function findInvoked(target: unknown): string {
  const { 'Fn::Join': joined } = target as { readonly 'Fn::Join'?: [string, [object, string]] };
  const arn = (joined ? joined[1][0] : target) as { readonly 'Fn::GetAtt'?: [string, 'Arn'] };
  return arn['Fn::GetAtt']?.[0] ?? JSON.stringify(target);
}

/** `functions/transactions/list.handler` -> `transactions/list` */
export function toEntryPoint(handler: string): string {
  return handler.replace(/^functions\//, '').replace(/\.handler$/, '');
}
