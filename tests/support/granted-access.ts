// What the roles of the packaged template allow: of the table, and besides.
import {
  functionsOf,
  type Resource,
  resourcesOf,
  type Template,
  theOnly,
} from './packaged-template.ts';

/** Table operations with what they reach: the table, or an index by its name. */
export type TableAccess = Record<string, string[]>;

export const TABLE = 'the table';
/** The one partition that a role grants by its key. */
export const API_KEYS = '@API_KEYS';

export interface Statement {
  readonly Effect: string;
  readonly Action: string[];
  readonly Resource: unknown[];
  readonly Condition?: { readonly 'ForAllValues:StringEquals'?: Record<string, string[]> };
}

export interface RoleProperties {
  readonly AssumeRolePolicyDocument: unknown;
  readonly ManagedPolicyArns: unknown;
  readonly Policies: {
    readonly PolicyName: string;
    readonly PolicyDocument: { readonly Statement: Statement[] };
  }[];
}

export function roleOf(template: Template, name: string): RoleProperties {
  const found = functionsOf(template).find(([entryPoint]) => entryPoint === name);
  if (!found) throw new Error(`No function is named ${name}`);
  const [roleName] = (found[1].Role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'];
  return (template.Resources[roleName] as Resource<RoleProperties>).Properties;
}

export function statementsOf(role: RoleProperties): Statement[] {
  return role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

export function tableAccess(template: Template, name: string): TableAccess {
  const { TableName: tableName } = theOnly(template, 'AWS::DynamoDB::Table').Properties;
  const access: TableAccess = {};
  for (const { Action, Resource, Condition } of statementsOf(roleOf(template, name))) {
    const [only] = Condition?.['ForAllValues:StringEquals']?.['dynamodb:LeadingKeys'] ?? [];
    for (const action of Action) {
      const [service, operation = ''] = action.split(':');
      if (service !== 'dynamodb') continue;
      access[operation] = [
        ...(access[operation] ?? []),
        ...Resource.map((each) => only ?? reached(tableName, each)),
      ];
    }
  }
  return access;
}

function reached(tableName: unknown, resource: unknown): string {
  const { 'Fn::Sub': arn } = resource as { 'Fn::Sub': string };
  const table = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${tableName}`;
  if (arn === table) return TABLE;
  return arn.startsWith(`${table}/index/`) ? arn.slice(`${table}/index/`.length) : arn;
}

export function logGroupOf(template: Template, name: string): string {
  const [, properties] = functionsOf(template).find(([entryPoint]) => entryPoint === name) ?? [];
  const groups = resourcesOf(template, 'AWS::Logs::LogGroup');
  const own = groups.find(
    ([, { Properties }]) => Properties.LogGroupName === `/aws/lambda/${properties?.FunctionName}`,
  );
  if (!own) throw new Error(`${name} has no log group`);
  return own[0];
}
