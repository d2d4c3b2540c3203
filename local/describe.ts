// npm run describe: writes the API description that GET /openapi.json answers with.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildOpenApiDocument } from './openapi-document.ts';
import { createCommand, runProgram } from './program.ts';

const FILE = join(import.meta.dirname, '../lib/http/openapi.json');

const command = createCommand(
  'npm run describe',
  'Write lib/http/openapi.json from the routes and the schemas that validate requests.',
).action(async () => {
  await writeFile(FILE, `${JSON.stringify(buildOpenApiDocument(), undefined, 2)}\n`);
  console.log('Wrote lib/http/openapi.json');
});

await runProgram(command);
