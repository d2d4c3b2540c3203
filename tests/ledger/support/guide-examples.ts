// Reads the code examples in docs/ledger/clients.md.
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
export function findGuideExample(name: string): string {
  const example = listGuideExamples().find((each) => each.name === name);
  if (!example) throw new Error(`docs/ledger/clients.md has no example "${name}"`);
  return example.code;
}
