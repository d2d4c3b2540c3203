// npm run describe: writes the API description that GET /openapi.json answers with, and a typed client made from it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import { createCommand, runProgram } from '../../local/processes/program.ts';
import { buildOpenApiDocument } from './openapi-document.ts';

const PROJECT = join(import.meta.dirname, '../..');
const DOCUMENT = 'lib/http/openapi.json';
const CLIENT = 'tests/http/typed-client/client.ts';

const command = createCommand(
  'npm run describe',
  `Write ${DOCUMENT} from the routes and the schemas that validate requests, and ${CLIENT} from it.`,
).action(async () => {
  await writeFile(
    join(PROJECT, DOCUMENT),
    `${JSON.stringify(buildOpenApiDocument(), undefined, 2)}\n`,
  );
  await writeFile(join(PROJECT, CLIENT), await generateSource(join(PROJECT, DOCUMENT)));
  for (const file of [DOCUMENT, CLIENT]) console.log(`Wrote ${file}`);
});

await runProgram(command);
