// The AWS CLI commands that docs/ledger/deploy.md assigns to the roles of an account, and the table of them in that guide.
import type { PolicyName } from '../../local/emulator/policies.ts';

export interface RoleCommand {
  readonly role: PolicyName;
  readonly command: string;
  /** IAM's name for the permission that the command needs. */
  readonly action: string;
}

export const ROLE_COMMANDS: readonly RoleCommand[] = [
  createRoleCommand('operator', 'cloudformation', 'update-termination-protection'),
  createRoleCommand('operator', 'cloudwatch', 'describe-alarms'),
  createRoleCommand('operator', 'cloudwatch', 'list-metrics'),
  createRoleCommand('operator', 'cloudwatch', 'set-alarm-state'),
  createRoleCommand('operator', 'dynamodb', 'update-table'),
  createRoleCommand('operator', 'lambda', 'get-account-settings'),
  createRoleCommand('operator', 'logs', 'describe-query-definitions'),
  createRoleCommand('operator', 'logs', 'get-query-results'),
  createRoleCommand('operator', 'logs', 'start-query'),
  {
    role: 'operator',
    command: 'aws service-quotas request-service-quota-increase',
    action: 'servicequotas:RequestServiceQuotaIncrease',
  },
  createRoleCommand('operator', 'sns', 'create-topic'),
  createRoleCommand('operator', 'sns', 'subscribe'),
  createRoleCommand('operator', 'ssm', 'put-parameter'),
  createRoleCommand('removal', 'cloudformation', 'update-termination-protection'),
  createRoleCommand('removal', 'dynamodb', 'delete-table'),
  createRoleCommand('removal', 'dynamodb', 'update-table'),
];

const SECTION = /<!-- generated: role-commands -->\n[\s\S]*?<!-- end -->/;

/** Rewrites the table in the guide's text. */
export function updateRoleCommands(text: string): string {
  const rows = ROLE_COMMANDS.map(
    ({ role, command, action }) => `| \`${command}\` | ${role} | \`${action}\` |`,
  );
  const table = ['| Command | Role | Permission |', '|---|---|---|', ...rows].join('\n');
  return text.replace(SECTION, () => `<!-- generated: role-commands -->\n${table}\n<!-- end -->`);
}

/** Creates a command whose permission is named after its operation. */
function createRoleCommand(role: PolicyName, service: string, operation: string): RoleCommand {
  const capitalizedWords = operation
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    role,
    command: `aws ${service} ${operation}`,
    action: `${service}:${capitalizedWords.join('')}`,
  };
}
