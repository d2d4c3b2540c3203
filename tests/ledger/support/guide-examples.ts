// Reads the examples of code in docs/ledger/clients.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface GuideExample {
  /** The words after the backticks, such as `go oapi-codegen` */
  readonly name: string;
  readonly code: string;
}

export function listGuideExamples(): GuideExample[] {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/ledger/clients.md'), 'utf8');
  return [...guide.matchAll(/^```(\w+ [\w-]+)\n(.*?)^```/gms)].map(([, name = '', code = '']) => ({
    name,
    code,
  }));
}

/** @throws Error if the guide has no example of that name */
export function findGuideExample(wantedName: string): string {
  const example = listGuideExamples().find(({ name }) => name === wantedName);
  if (!example) throw new Error(`docs/ledger/clients.md has no example "${wantedName}"`);
  return example.code;
}
