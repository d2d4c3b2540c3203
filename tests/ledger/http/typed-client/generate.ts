// Generates client.ts from the API description; the file is not committed.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';

const DESCRIPTION = join(import.meta.dirname, '../../../../lib/ledger/http/openapi.json');

export async function generateClient(): Promise<void> {
  await writeFile(join(import.meta.dirname, 'client.ts'), await generateSource(DESCRIPTION));
}
