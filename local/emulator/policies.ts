// The policies that docs/ledger/deploy.md tells operators to give to the roles of an AWS account.
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs/ledger');

export const POLICIES = ['deploy', 'operator', 'removal', 'boundary'] as const;
export type PolicyName = (typeof POLICIES)[number];

export function policyFile(name: PolicyName): string {
  return join(DOCS, `${name}-policy.json`);
}
